import { setImmediate } from 'node:timers/promises';
import type { SharedRateLimits } from '../../../core/src/storage.ts';
import { answered, asked, describeMistakes, type Spoil } from './mistakes.ts';

/** A storage whose rate limits have one call that is wrong. */
const spoiled =
  (change: (limits: SharedRateLimits) => Partial<SharedRateLimits>): Spoil =>
  ({ rateLimits }) =>
    rateLimits === undefined ? {} : { rateLimits: { ...rateLimits, ...change(rateLimits) } };

describeMistakes({
  'looks whether there is room, then counts': [
    'rate limits: of 200 parallel requests exactly as many pass as are allowed',
    spoiled(({ consume, peek }) => ({
      async consume(request) {
        const { allowed } = await peek(request);
        await setImmediate();
        return { ...(await consume({ ...request, limit: 1000 })), allowed };
      },
    })),
  ],
  'counts what it refuses': [
    'rate limits: what is refused is told so, and not counted',
    spoiled(({ consume }) => ({
      async consume(request) {
        const state = await consume({ ...request, limit: 1000 });
        return { ...state, allowed: state.count <= request.limit };
      },
    })),
  ],
  'counts all buckets together': [
    'rate limits: buckets are counted apart, by their exact names',
    asked('rateLimits', 'consume', (request) => ({ ...request, bucket: 'all' })),
  ],
  'ends a window one millisecond late': [
    'rate limits: a window ends at its exact millisecond, whether it was full or not',
    asked('rateLimits', 'consume', (request) => ({ ...request, now: request.now - 1 })),
  ],
  'counts a look': ['rate limits: a look counts nothing', spoiled(({ consume }) => ({ peek: consume }))],
  'takes every key for live': [
    'rate limits: counts the requests of a key as all others, and says whether the key is live',
    answered('rateLimits', 'consumeOfKey', (state) => ({ ...state, keyIsLive: true })),
  ],
  'gives one answer to all keys that are counted together': [
    'rate limits: counted together in one bucket, each key has its own answer',
    asked('rateLimits', 'consumeOfKey', () => 'key_a'),
  ],
});
