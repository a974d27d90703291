import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Core } from '../../context.ts';
import { UnsealError } from '../../keys/sealing.ts';
import type { ClientRecord } from '../../ports/clients.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../tokens.ts';
import { isEnabled } from '../client.ts';
import { anonymousInteractionSeconds } from '../lifetimes.ts';
import { openHints, sealHints } from './interaction-hints.ts';
import { interactionLimit } from './interaction-limit.ts';

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

/** What the adapter is told of a run of the engine, and notes there. */
export interface AdapterRun {
  /** Who is signed in, as the host says. */
  readonly authentication: Authentication | null;
  /** Why its client could not be read. */
  failure?: unknown;
}

/** Clients are read on every request and never cached beyond it. */
function clientAdapter(core: Core, currentRun: () => AdapterRun | undefined): Adapter {
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
 * Interactions are stored under the digest of their id, without the id (it stands in `returnTo` too), without anything of
 * the engine's session, and with sealed hints.
 */
function interactionAdapter(core: Core, currentRun: () => AdapterRun | undefined): Adapter {
  const { storage, sealer, clock, options } = core;
  const { interactions } = storage;
  const unfinished = interactionLimit(core);
  const gone = () => new errors.SessionNotFound('interaction session not found');
  const rowOf = (id: string) => digest(id).toString('base64url');
  return {
    ...inert,
    async upsert(id, { jti: _, session: __, returnTo: ___, params = {}, ...rest }, expiresIn = 0) {
      const payload = { ...rest, params: sealHints(sealer, rowOf(id), params) };
      const endsAt = (seconds: number) => clock.now() + seconds * 1000;
      if (rest.result === undefined) {
        await unfinished.acquire();
        const isAnonymous = (currentRun()?.authentication ?? null) === null;
        const seconds = isAnonymous ? Math.min(expiresIn, anonymousInteractionSeconds) : expiresIn;
        return interactions.save(digest(id), payload, endsAt(seconds));
      }
      // Whoever has resumed the request has ended it: an answer that comes late must not bring it back.
      if (!(await interactions.replace(digest(id), payload, endsAt(expiresIn)))) throw gone();
    },
    async find(id) {
      const payload = await interactions.find(digest(id), clock.now());
      if (payload === null) return undefined;
      try {
        const params = openHints(sealer, rowOf(id), payload.params as Record<string, unknown>);
        return { ...payload, params, jti: id };
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        // Begun under a sealing key that was taken away since: the user begins anew.
        options.logger.warn(
          { err: error },
          'an authorization request was given up: its hints cannot be opened',
        );
        return undefined;
      }
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
  currentRun: () => AdapterRun | undefined,
): (model: string) => Adapter {
  const adapters: { readonly [model: string]: Adapter } = {
    Client: clientAdapter(core, currentRun),
    Interaction: interactionAdapter(core, currentRun),
    AuthorizationCode: authorizationCodeAdapter(core),
  };
  return (model) => adapters[model] ?? inert;
}
