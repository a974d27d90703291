import { AsyncLocalStorage } from 'node:async_hooks';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Core } from '../../context.ts';
import type { ClientRecord } from '../../ports/clients.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../tokens.ts';
import { isEnabled } from '../client.ts';

/** A function of the record and the options alone, because the engine caches by content. */
function clientMetadata({ options }: Core, client: ClientRecord): AdapterPayload {
  return {
    client_id: client.clientId,
    client_name: client.name,
    redirect_uris: [...client.redirectUris],
    // The engine refuses a client with a scope that the host has taken away.
    scope: client.allowedScopes.filter(options.scopes.has).join(' '),
    // Redirect URIs are checked by provisioning and compared before the engine sees a request; `native` is
    // the type that accepts every kind of them.
    application_type: client.redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
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

/** One request on its way through the engine. */
export interface EngineRun {
  /** Who is signed in, as the host says. */
  readonly authentication: Authentication | null;
  /** Of a request that begins: the scopes that it asks for, checked. */
  readonly scope?: string | null;
  /** Where the engine sends the browser. */
  location?: string;
  /** Why it does not. */
  error?: unknown;
  /** Why its client could not be read. */
  failure?: unknown;
}

/** The run that a call of the engine's belongs to. */
export const currentRun = new AsyncLocalStorage<EngineRun>();

/** Who is signed in, as the host said when the request came in. */
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
        return isEnabled(client) ? clientMetadata(core, client) : undefined;
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
        issuedAt: now,
        expiresAt: now + expiresIn * 1000,
      });
      if (!issued) throw new errors.AccessDenied('The access was withdrawn in the meantime.');
    },
  };
}
