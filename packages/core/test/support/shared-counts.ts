import type { RateLimitState, RateLimitStore, Storage } from '../../src/storage.ts';

type Request = Parameters<RateLimitStore['consume']>[0];

/** A storage that shares counts of requests between the instances of a test, as PostgreSQL shares them between processes. */
export function sharingCounts(storage: Storage): Storage {
  const windows = new Map<string, { readonly count: number; readonly endsAt: number }>();

  function peek({ bucket, limit, windowMs, now }: Request): RateLimitState {
    const last = windows.get(bucket);
    const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + windowMs };
    return { allowed: window.count < limit, ...window };
  }

  function consume(request: Request): RateLimitState {
    const { allowed, count, endsAt } = peek(request);
    if (!allowed) return { allowed, count, endsAt };
    windows.set(request.bucket, { count: count + 1, endsAt });
    return { allowed, count: count + 1, endsAt };
  }

  return {
    ...storage,
    rateLimits: {
      consume: async (request) => consume(request),
      peek: async (request) => peek(request),
      async consumeOfKey(keyId, request) {
        const counted = consume(request);
        return { ...counted, keyIsLive: await storage.apiKeys.isLive(keyId, request.now) };
      },
    },
  };
}
