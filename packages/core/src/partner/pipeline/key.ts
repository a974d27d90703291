import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import { apiKeyFormat } from '../../secrets/api-key-format.ts';
import { digestText } from '../../secrets/tokens.ts';

/** How long what a key is and may do is taken from memory, in milliseconds. Whether it lives is asked every time. */
const keyCacheMs = 5_000;

const touchIntervalMs = 60_000;

/** A key of a request. */
export interface FoundKey {
  readonly key: ApiKeyState;
  /** From memory: what else is asked of the storage has to say, before the answer, that the key lives still. */
  readonly isCached: boolean;
}

interface Cached {
  readonly key: ApiKeyState;
  readonly readAt: number;
}

function isUsable({ revokedAt, expiresAt, partnerDisabled }: ApiKeyState, now: number): boolean {
  return revokedAt === null && !partnerDisabled && (expiresAt === null || expiresAt > now);
}

/** Asks after the end of this turn of the event loop, once for all requests that came in it: never before one came. */
function oncePerTurn(ask: (id: string) => Promise<boolean>): (id: string) => Promise<boolean> {
  /** Of each key that is about to be asked for, the answer that comes. */
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

/** Finds the key of a request. */
export type KeyCheck = ReturnType<typeof createKeyCheck>;

/**
 * Keys that work are cached for {@link keyCacheMs}; others never, so that strangers cannot fill the
 * cache, and a partner that is enabled again need not wait.
 */
export function createKeyCheck({ storage, options: { prefix, logger }, clock }: Core) {
  const store = storage.apiKeys;
  const format = apiKeyFormat(prefix);
  const cache = new LRUCache<string, Cached>({ max: 10_000 });
  /** When the use of a key was noted last: beside the cache, for requests that read a key at the same time. */
  const noted = new LRUCache<string, number>({ max: 10_000 });
  // Counts the clears: what was read before one must not be cached after it.
  let generation = 0;

  function cached(id: string, now: number): ApiKeyState | null {
    const entry = cache.get(id);
    return entry !== undefined && now - entry.readAt < keyCacheMs && now >= entry.readAt ? entry.key : null;
  }

  async function read(presented: string, id: string, now: number): Promise<ApiKeyState | null> {
    // What is in the cache was well-formed once.
    if (!format.isKey(presented)) return null;
    const before = generation;
    const key = await store.findByDigest(Buffer.from(id, 'base64'));
    if (key !== null && isUsable(key, now) && before === generation) cache.set(id, { key, readAt: now });
    return key;
  }

  /** Noting the use is no part of the request: it neither waits nor fails for it. */
  function touch({ id, lastUsedAt }: ApiKeyState, now: number): void {
    if (now - Math.max(noted.get(id) ?? 0, lastUsedAt ?? 0) < touchIntervalMs) return;
    noted.set(id, now);
    store.touch(id, now).catch((error: unknown) => {
      logger.warn({ err: error, key: id }, 'the last use of a key could not be noted');
    });
  }

  function used(key: ApiKeyState | null, now: number): ApiKeyState {
    if (key === null || !isUsable(key, now)) throw new PartnerError('invalid_api_key');
    touch(key, now);
    return key;
  }

  const isLive = oncePerTurn((id) => store.isLive(id, clock.now()));

  /** The error for a key from memory that lives no more; forgets it. */
  function refuse({ key }: FoundKey): PartnerError {
    cache.delete(Buffer.from(key.digest).toString('base64'));
    return new PartnerError('invalid_api_key');
  }

  return {
    /** @throws PartnerError `invalid_api_key`, the same for every reason */
    async find(presented: string | undefined): Promise<FoundKey> {
      if (presented === undefined) throw new PartnerError('invalid_api_key');
      const now = clock.now();
      const id = digestText(presented);
      const known = cached(id, now);
      return { key: used(known ?? (await read(presented, id, now)), now), isCached: known !== null };
    },
    /**
     * The key that an earlier request has presented, for those who may not keep its text. Asks the storage every time.
     * @throws PartnerError `invalid_api_key`
     */
    async findById(id: string): Promise<FoundKey> {
      return { key: used(await store.find(id), clock.now()), isCached: false };
    },
    /**
     * Asks the storage whether a key from memory lives: neither is it revoked, here or elsewhere, nor its partner disabled.
     * @throws PartnerError `invalid_api_key`
     */
    async confirm(found: FoundKey): Promise<void> {
      if (found.isCached && !(await isLive(found.key.id))) throw refuse(found);
    },
    refuse,
    /** Forgets what is cached, after a change to a key or a partner in this process. */
    clear(): void {
      generation += 1;
      cache.clear();
    },
  };
}
