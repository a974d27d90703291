import { LRUCache } from 'lru-cache';
import type { ApiKeyFormat } from '../../api-key-format.ts';
import type { Clock } from '../../clock.ts';
import { PartnerError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { ApiKeyState, ApiKeyStore } from '../../ports/api-keys.ts';
import { digest } from '../../tokens.ts';

/** How long another process may accept a key after it was revoked, in milliseconds. */
export const keyCacheMs = 5_000;

const touchIntervalMs = 60_000;

/** Finds the key of a request. */
export interface KeyCheck {
  /** @throws PartnerError `invalid_api_key`, the same for every reason */
  find(presented: string | undefined): Promise<ApiKeyState>;
  /** Forgets what is cached, so that a revocation in this process takes effect at once. */
  clear(): void;
}

interface Cached {
  readonly key: ApiKeyState;
  readonly readAt: number;
  touchedAt: number;
}

/**
 * See {@link KeyCheck}. Known keys are cached for {@link keyCacheMs}; unknown ones never, so that strangers
 * cannot fill the cache.
 */
export function createKeyCheck(options: {
  readonly store: ApiKeyStore;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
  readonly logger: Logger;
}): KeyCheck {
  const { store, format, clock, logger } = options;
  const cache = new LRUCache<string, Cached>({ max: 10_000 });
  // Counts the clears: what was read before one must not be cached after it.
  let generation = 0;

  async function read(presented: string, now: number): Promise<Cached | null> {
    const hash = digest(presented);
    const id = hash.toString('base64');
    const cached = cache.get(id);
    if (cached !== undefined && now - cached.readAt < keyCacheMs && now >= cached.readAt) return cached;
    // What is in the cache was well-formed once.
    if (!format.isKey(presented)) return null;
    const before = generation;
    const key = await store.findByDigest(hash);
    if (key === null) return null;
    const entry: Cached = { key, readAt: now, touchedAt: cached?.touchedAt ?? key.lastUsedAt ?? 0 };
    if (before === generation) cache.set(id, entry);
    return entry;
  }

  /** Noting the use is no part of the request: it neither waits nor fails for it. */
  function touch(entry: Cached, now: number): void {
    if (now - entry.touchedAt < touchIntervalMs) return;
    entry.touchedAt = now;
    store.touch(entry.key.id, now).catch((error: unknown) => {
      logger.warn({ err: error, key: entry.key.id }, 'the last use of a key could not be noted');
    });
  }

  return {
    async find(presented) {
      const now = clock.now();
      const entry = presented === undefined ? null : await read(presented, now);
      if (entry === null) throw new PartnerError('invalid_api_key');
      const { revokedAt, expiresAt, partnerDisabled } = entry.key;
      if (revokedAt !== null || partnerDisabled || (expiresAt !== null && expiresAt <= now)) {
        throw new PartnerError('invalid_api_key');
      }
      touch(entry, now);
      return entry.key;
    },
    clear() {
      generation += 1;
      cache.clear();
    },
  };
}
