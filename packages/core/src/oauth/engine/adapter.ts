import { AsyncLocalStorage } from 'node:async_hooks';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { OAuthError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { ClientRecord } from '../../ports/clients.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../secrets/tokens.ts';
import { findClient, isEnabled } from '../client.ts';
import { sessionIdOf } from '../host-login.ts';
import { idTokenDetailsOf } from '../id-token.ts';
import { fapi2CodeSeconds } from '../lifetimes.ts';
import { isRegisteredRedirectUri } from '../redirect-uri.ts';
import type { Decision } from './answers.ts';

/**
 * Describes a client to oidc-provider for one request. The client was checked when it was created, so
 * oidc-provider gets nothing that its own rules could refuse: only the redirect URI of the request, and
 * neither name nor page URLs. Must be a pure function of its arguments, because oidc-provider caches clients
 * by content.
 */
function clientMetadata({ options }: Core, client: ClientRecord, redirectUri: string): AdapterPayload {
  // The engine refuses a client with an unknown scope, such as one that the host has removed, or with an
  // empty list.
  const scope = client.allowedScopes.filter(options.scopes.has).join(' ');
  return {
    client_id: client.clientId,
    redirect_uris: [redirectUri],
    // The engine's type `web` accepts every http and https URI and compares ports; `native` accepts
    // private-use schemes.
    application_type: /^https?:/i.test(redirectUri) ? 'web' : 'native',
    ...(scope !== '' && { scope }),
    // The engine never authenticates a client: the token endpoint is not the engine's.
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: client.idTokenAlg,
  };
}

const nothing = async (): Promise<undefined> => undefined;

export const inert: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** State of one authorization request while oidc-provider handles it. */
export interface EngineRun {
  /**
   * The user whom the host application reported as signed in when the request arrived; `null` if no user was
   * signed in.
   */
  readonly authentication: Authentication | null;
  /** Checked scopes of a new authorization request. */
  readonly scope?: string | null;
  /**
   * URIs of the requested resources. For a resumed request they are set once its interaction has been read.
   */
  resources?: readonly string[];
  /** Redirect URI of the request. For a resumed request it is set once its interaction has been read. */
  redirectUri?: string;
  /** Checked parameter `claims` of the request, set together with `redirectUri`. */
  claims?: string | null;
  /** True if a script sent the request (Fetch Metadata), rather than the browser for its user. */
  readonly isScript?: boolean;
  /** Interaction that the request started, with its lifetime in seconds. */
  begun?: { readonly id: string; readonly seconds: number };
  /** Lifetime of an authorization code for the client, in seconds, if it is shorter than the usual one. */
  codeSeconds?: number;
  /** Decision of the user that ended the interaction of a resumed request. */
  decision?: Decision | null;
  /** URL to which oidc-provider redirected the browser. */
  location?: string;
  /** Error that oidc-provider reported, if the request failed. */
  error?: unknown;
  /**
   * Error of the storage when the client was read, or `redirect_uri_mismatch` if the URI is not registered
   * any more.
   */
  failure?: unknown;
}

/** State of the authorization request during which oidc-provider calls an adapter. */
export const currentRun = new AsyncLocalStorage<EngineRun>();

/** Returns the signed-in user, as the host application reported when the request arrived. */
export function visitor(): Authentication | null {
  return currentRun.getStore()?.authentication ?? null;
}

/** Returns the URIs of the resources that the current authorization request names. */
export function requestedInRun(): readonly string[] {
  return currentRun.getStore()?.resources ?? [];
}

/**
 * Creates oidc-provider's adapter for clients, which are read on every request and never cached beyond it.
 */
export function clientAdapter(core: Core): Adapter {
  return {
    ...inert,
    async find(id) {
      const run = currentRun.getStore();
      // To report an error the engine reads the client again; do not wait for a failed database twice.
      if (run?.failure !== undefined) throw run.failure;
      try {
        const client = await findClient(core, id);
        if (!isEnabled(client)) return undefined;
        const redirectUri = run?.redirectUri ?? '';
        // An administrator may have removed the redirect URI since the request began.
        if (!isRegisteredRedirectUri(client, redirectUri)) throw new OAuthError('redirect_uri_mismatch');
        if (run !== undefined && client.profile === 'fapi2') run.codeSeconds = fapi2CodeSeconds;
        return clientMetadata(core, client, redirectUri);
      } catch (error) {
        if (run !== undefined) run.failure = error;
        throw error;
      }
    },
  };
}

/**
 * Creates oidc-provider's adapter for authorization codes. A code is stored as a grant, in one transaction
 * with the check that the user's consent still exists.
 */
export function authorizationCodeAdapter(core: Core): Adapter {
  return {
    ...inert,
    async upsert(code, payload, expiresIn = 0) {
      const { clientId, accountId, redirectUri, scope, authTime } = payload;
      if (!clientId || !accountId || !redirectUri || !scope || authTime === undefined) {
        throw new TypeError('the engine issued a code without client, user, redirect URI, scope or time');
      }
      const now = core.clock.now();
      const scopes = scope.split(' ');
      const resources = requestedInRun();
      const issued = await core.storage.grants.issue({
        codeDigest: digest(code),
        clientId,
        sub: accountId,
        scopes,
        resources: resources.length === 0 ? null : resources,
        redirectUri,
        codeChallenge: payload.codeChallenge ?? null,
        nonce: payload.nonce ?? null,
        dpopJkt: payload.dpopJkt ?? null,
        authenticatedAt: authTime * 1000,
        idTokenDetails: idTokenDetailsOf(core, visitor(), currentRun.getStore()?.claims, scopes),
        sid: sessionIdOf(visitor() ?? { sub: accountId, authenticatedAt: new Date(authTime * 1000) }),
        issuedAt: now,
        expiresAt: now + (currentRun.getStore()?.codeSeconds ?? expiresIn) * 1000,
      });
      if (!issued) throw new errors.AccessDenied('The access was withdrawn in the meantime.');
    },
  };
}
