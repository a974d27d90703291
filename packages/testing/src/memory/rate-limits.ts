import type { RateLimitState, RateLimitStore, SharedRateLimits } from '@ostiary/core/storage';
import { isLiveKey } from './api-keys.ts';
import type { Step } from './step.ts';
import type { Tables } from './tables.ts';

type Request = Parameters<RateLimitStore['consume']>[0];

export function memoryRateLimits(step: Step): SharedRateLimits {
  return {
    consume: (request) => step((tables) => count(tables, request)),

    peek: ({ bucket, limit, windowMs, now }) =>
      step(({ rateLimits }) => {
        const last = rateLimits.get(bucket);
        const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + windowMs };
        return { allowed: window.count < limit, ...window };
      }),

    consumeOfKey: (keyId, request) =>
      step((tables) => ({
        ...count(tables, request),
        keyIsLive: isLiveKey(tables, keyId, request.now),
      })),
  };
}

function count({ rateLimits }: Tables, { bucket, limit, windowMs, now }: Request): RateLimitState {
  const last = rateLimits.get(bucket);
  const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + windowMs };
  if (window.count >= limit) return { allowed: false, ...window };
  const counted = { count: window.count + 1, endsAt: window.endsAt };
  rateLimits.set(bucket, counted);
  return { allowed: true, ...counted };
}
