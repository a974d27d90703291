import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { digest } from '../tokens.ts';
import { isEnabled } from './client.ts';

/**
 * Client metadata as the engine wants it; a function of the record alone, because the engine caches by
 * content.
 */
function clientMetadata(client: ClientRecord): AdapterPayload {
  return {
    client_id: client.clientId,
    client_name: client.name,
    redirect_uris: [...client.redirectUris],
    scope: client.allowedScopes.join(' '),
    // Redirect URIs are checked by provisioning and compared before the engine sees a request; `native` is
    // the type that accepts every kind of them.
    application_type: client.redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    // The engine never authenticates a client: the token endpoint is ours.
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: client.idTokenAlg,
  };
}

const nothing = async (): Promise<undefined> => undefined;

/** What an adapter of the engine has to have; each model overrides what it needs. */
const inert: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** What a run of the engine has met. */
export interface StorageFailure {
  /** Why its client could not be read. */
  failure?: unknown;
}

/** Clients are read on every request and never cached beyond it. */
function clientAdapter(core: Core, currentRun: () => StorageFailure | undefined): Adapter {
  return {
    ...inert,
    async find(id) {
      const run = currentRun();
      // To answer an error the engine asks for its client once more; a database that does not answer is not waited for
      // twice.
      if (run?.failure !== undefined) throw run.failure;
      try {
        const client = await core.storage.clients.find(id);
        return isEnabled(client) ? clientMetadata(client) : undefined;
      } catch (error) {
        if (run !== undefined) run.failure = error;
        throw error;
      }
    },
  };
}

/**
 * Interactions are stored under the digest of their id, without the id (it stands in `returnTo` too) and
 * without anything of the engine's session.
 */
function interactionAdapter(core: Core): Adapter {
  const { interactions } = core.storage;
  const gone = () => new errors.SessionNotFound('interaction session not found');
  return {
    ...inert,
    async upsert(id, { jti: _, session: __, returnTo: ___, ...payload }, expiresIn = 0) {
      const expiresAt = core.clock.now() + expiresIn * 1000;
      if (payload.result === undefined) return interactions.save(digest(id), payload, expiresAt);
      // Whoever has resumed the request has ended it: an answer that comes late must not bring it back.
      if (!(await interactions.replace(digest(id), payload, expiresAt))) throw gone();
    },
    async find(id) {
      const payload = await interactions.find(digest(id), core.clock.now());
      return payload === null ? undefined : { ...payload, jti: id };
    },
    async destroy(id) {
      // Two answers to one interaction: the second finds nothing left.
      if (!(await interactions.remove(digest(id)))) throw gone();
    },
  };
}

/**
 * A code becomes a grant of its own, in one transaction with the check that the user's consent still stands.
 */
function authorizationCodeAdapter(core: Core): Adapter {
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

/**
 * Stores what the engine makes. Its sessions are not kept at all: who is signed in is the host's word, asked
 * on every request. Its tokens and its grants do not exist: the token endpoint is ours, and a grant is stored
 * with its code.
 */
export function providerAdapter(
  core: Core,
  currentRun: () => StorageFailure | undefined,
): (model: string) => Adapter {
  const adapters: { readonly [model: string]: Adapter } = {
    Client: clientAdapter(core, currentRun),
    Interaction: interactionAdapter(core),
    AuthorizationCode: authorizationCodeAdapter(core),
  };
  return (model) => adapters[model] ?? inert;
}
