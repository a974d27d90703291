import { AsyncLocalStorage } from 'node:async_hooks';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { OAuthError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { ClientRecord } from '../../ports/clients.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../secrets/tokens.ts';
import { isEnabled } from '../client.ts';
import { isRegisteredRedirectUri } from '../redirect-uri.ts';
import { sessionIdOf } from '../session-id.ts';
import type { Decision } from './answers.ts';

/**
 * Describes a client to the engine as one request needs it. Rules for clients are provisioning's, so the engine gets nothing that
 * its own rules could refuse: one redirect URI, which is the request's, and neither name nor addresses of pages. It must be a
 * function of its arguments alone, because the engine caches clients by content.
 */
function clientMetadata({ options }: Core, client: ClientRecord, redirectUri: string): AdapterPayload {
  // The engine refuses a client with a scope that the host has removed, or with an empty list.
  const scope = client.allowedScopes.filter(options.scopes.has).join(' ');
  return {
    client_id: client.clientId,
    redirect_uris: [redirectUri],
    // `web` accepts every http and https URI, and compares ports; `native` accepts private-use schemes.
    application_type: /^https?:/i.test(redirectUri) ? 'web' : 'native',
    ...(scope !== '' && { scope }),
    // The engine never authenticates a client: the token endpoint is ours.
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

/** State of a request on its way through the engine. */
export interface EngineRun {
  /** The signed-in user, according to the host. */
  readonly authentication: Authentication | null;
  /** Requested scopes of a new request, checked. */
  readonly scope?: string | null;
  /** The redirect URI of the request; of one that is resumed, known once its interaction was read. */
  redirectUri?: string;
  /** Says whether a script sent the request, and not the browser for its user (Fetch Metadata). */
  readonly isScript?: boolean;
  /** The interaction that begins with this request, and its life in seconds. */
  begun?: { readonly id: string; readonly seconds: number };
  /** Step with which the user ended the interaction that is resumed. */
  decision?: Decision | null;
  /** URL to which the engine redirects the browser. */
  location?: string;
  /** The engine's error, if it failed. */
  error?: unknown;
  /** Error while its client was read. */
  failure?: unknown;
}

/** The run that a call of the engine's belongs to. */
export const currentRun = new AsyncLocalStorage<EngineRun>();

/** The signed-in user, according to the host when the request arrived. */
export function visitor(): Authentication | null {
  return currentRun.getStore()?.authentication ?? null;
}

/** Clients are read on every request and never cached beyond it. */
export function clientAdapter(core: Core): Adapter {
  return {
    ...inert,
    async find(id) {
      const run = currentRun.getStore();
      // To answer an error the engine asks for its client once more; a database that does not answer is not waited for
      // twice.
      if (run?.failure !== undefined) throw run.failure;
      try {
        const client = await core.storage.clients.find(id);
        if (!isEnabled(client)) return undefined;
        const redirectUri = run?.redirectUri ?? '';
        // An administrator may have removed it since the request began.
        if (!isRegisteredRedirectUri(client, redirectUri)) throw new OAuthError('redirect_uri_mismatch');
        return clientMetadata(core, client, redirectUri);
      } catch (error) {
        if (run !== undefined) run.failure = error;
        throw error;
      }
    },
  };
}

/** A code becomes a grant, in one transaction with the check that the user's consent still stands. */
export function authorizationCodeAdapter(core: Core): Adapter {
  return {
    ...inert,
    async upsert(code, payload, expiresIn = 0) {
      const { clientId, accountId, redirectUri, scope, authTime } = payload;
      if (!clientId || !accountId || !redirectUri || !scope || !authTime) {
        throw new TypeError('the engine issued a code without client, user, redirect URI, scope or time');
      }
      const now = core.clock.now();
      const issued = await core.storage.grants.issue({
        codeDigest: digest(code),
        clientId,
        sub: accountId,
        scopes: scope.split(' '),
        redirectUri,
        codeChallenge: payload.codeChallenge ?? null,
        nonce: payload.nonce ?? null,
        authenticatedAt: authTime * 1000,
        sid: sessionIdOf(visitor() ?? { sub: accountId, authenticatedAt: new Date(authTime * 1000) }),
        issuedAt: now,
        expiresAt: now + expiresIn * 1000,
      });
      if (!issued) throw new errors.AccessDenied('The access was withdrawn in the meantime.');
    },
  };
}
