import type { SharedRateLimits } from '../ports/rate-limits.ts';
import type { Step } from './step.ts';

export function memoryRateLimits(step: Step): SharedRateLimits {
  return {
    consume: ({ bucket, limit, windowMs, now }) =>
      step(({ rateLimits }) => {
        const last = rateLimits.get(bucket);
        const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + windowMs };
        if (window.count >= limit) return { allowed: false, ...window };
        const counted = { count: window.count + 1, endsAt: window.endsAt };
        rateLimits.set(bucket, counted);
        return { allowed: true, ...counted };
      }),

    peek: ({ bucket, limit, windowMs, now }) =>
      step(({ rateLimits }) => {
        const last = rateLimits.get(bucket);
        const window = last !== undefined && last.endsAt > now ? last : { count: 0, endsAt: now + windowMs };
        return { allowed: window.count < limit, ...window };
      }),
  };
}
