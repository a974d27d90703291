import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import { apiKeyFormat } from '../../secrets/api-key-format.ts';
import { digestText } from '../../secrets/tokens.ts';
import { type Caller, portalCaller } from './caller.ts';

/**
 * Time for which an API key's permissions are cached, in milliseconds. Whether the key is still valid is
 * checked on every request.
 */
const keyCacheMs = 5_000;

/** Shortest time between two writes of an API key's last use, in milliseconds. */
const touchIntervalMs = 60_000;

/**
 * Credential that identifies the sender of a call: the text of an API key, the id of the key that opened a
 * console session, or the digest of a live portal session's secret.
 */
export type Credential =
  | { readonly text: string | undefined }
  | { readonly id: string }
  | { readonly portal: Uint8Array };

interface Cached {
  readonly key: ApiKeyState;
  readonly readAt: number;
}

function isUsable({ revokedAt, expiresAt, partnerDisabled }: ApiKeyState, now: number): boolean {
  return revokedAt === null && !partnerDisabled && (expiresAt === null || expiresAt > now);
}

/**
 * Combines calls with the same key id: all calls in one turn of the event loop share one query at its end.
 */
function oncePerTurn(ask: (id: string) => Promise<boolean>): (id: string) => Promise<boolean> {
  /** Queries for the validity of a key that start at the end of this turn, by key id. */
  const asking = new Map<string, Promise<boolean>>();
  return (id) => {
    const asked = asking.get(id);
    if (asked !== undefined) return asked;
    const answer = setImmediate().then(() => {
      asking.delete(id);
      return ask(id);
    });
    asking.set(id, answer);
    return answer;
  };
}

/**
 * Creates the first pipeline step, which finds the API key or portal session of a request and decides whether
 * it is valid. No other step decides that. Only valid keys are cached, for {@link keyCacheMs}: strangers
 * cannot fill the cache, and a partner that is enabled again need not wait.
 */
export function createKeyCheck({ storage, options: { prefix, logger }, clock }: Core) {
  const store = storage.apiKeys;
  const format = apiKeyFormat(prefix);
  const cache = new LRUCache<string, Cached>({ max: 10_000 });
  /**
   * Times at which the last use of each key was written, by key id. Separate from the cache, for requests
   * that read the same key concurrently.
   */
  const noted = new LRUCache<string, number>({ max: 10_000 });
  const isLive = oncePerTurn((id) => store.isLive(id, clock.now()));
  // Number of times the cache was cleared: a key that was read before a clear must not be cached after it.
  let generation = 0;

  /**
   * Finds a valid API key by its text, in the cache (then checks that it is still valid) or in the storage.
   * `null` if there is no valid key.
   */
  async function findByText(text: string, now: number): Promise<ApiKeyState | null> {
    const digest = digestText(text);
    const known = cache.get(digest);
    if (known !== undefined && now - known.readAt < keyCacheMs && now >= known.readAt) {
      if (isUsable(known.key, now) && (await isLive(known.key.id))) return known.key;
      cache.delete(digest);
      return null;
    }
    // Refuse malformed keys without a query. A cached key's text was well-formed, so the cache needs no
    // check.
    if (!format.isKey(text)) return null;
    const before = generation;
    const key = await store.findByDigest(Buffer.from(digest, 'base64'));
    if (key === null || !isUsable(key, now)) return null;
    if (before === generation) cache.set(digest, { key, readAt: now });
    return key;
  }

  /** Finds a valid API key by its id, always in the storage. `null` if there is no valid key. */
  async function findById(id: string, now: number): Promise<ApiKeyState | null> {
    const key = await store.find(id);
    return key !== null && isUsable(key, now) ? key : null;
  }

  /**
   * Finds an open session of the live portal. The session is always read from the storage; the result is
   * `null` if there is none.
   */
  async function findSession(digest: Uint8Array, now: number): Promise<Caller | null> {
    const session = await storage.portal.find(digest, now);
    return session === null || session.openedAt === null ? null : portalCaller(session);
  }

  /**
   * Records the last use of an API key in the background, so that a request neither waits nor fails for it.
   */
  function touch({ id, lastUsedAt }: ApiKeyState, now: number): void {
    if (now - Math.max(noted.get(id) ?? 0, lastUsedAt ?? 0) < touchIntervalMs) return;
    noted.set(id, now);
    store.touch(id, now).catch((error: unknown) => {
      logger.warn({ err: error, key: id }, 'the last use of a key could not be noted');
    });
  }

  return {
    /**
     * Returns the API key or portal session of a request, if the credential is valid.
     * @throws PartnerError `invalid_api_key`, the same error for every reason
     */
    async find(credential: Credential, now: number): Promise<Caller> {
      if ('portal' in credential) {
        const session = await findSession(credential.portal, now);
        if (session === null) throw new PartnerError('invalid_api_key');
        return session;
      }
      const key =
        'id' in credential
          ? await findById(credential.id, now)
          : await findByText(credential.text ?? '', now);
      if (key === null) throw new PartnerError('invalid_api_key');
      touch(key, now);
      return key;
    },

    /** Clears the cache of API keys, after a change to a key or a partner in this process. */
    clear(): void {
      generation += 1;
      cache.clear();
    },
  };
}
