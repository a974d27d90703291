import { setImmediate } from 'node:timers/promises';
import type { Storage } from '../../../core/src/ports/storage.ts';
import type { SharedRateLimits } from '../../../core/src/storage.ts';
import { describeMistakes, type Mistakes } from './mistakes.ts';

/** A storage whose rate limits have one call that is wrong. */
function spoiled(change: (limits: SharedRateLimits) => Partial<SharedRateLimits>) {
  return ({ rateLimits }: Storage): Partial<Storage> =>
    rateLimits === undefined ? {} : { rateLimits: { ...rateLimits, ...change(rateLimits) } };
}

const mistakes: Mistakes = {
  'looks whether there is room, then counts': {
    case: 'rate limits: of 200 parallel requests exactly as many pass as are allowed',
    spoil: spoiled(({ consume, peek }) => ({
      async consume(request) {
        const { allowed } = await peek(request);
        await setImmediate();
        return { ...(await consume({ ...request, limit: 1000 })), allowed };
      },
    })),
  },
  'counts what it refuses': {
    case: 'rate limits: what is refused is told so, and not counted',
    spoil: spoiled(({ consume }) => ({
      async consume(request) {
        const state = await consume({ ...request, limit: 1000 });
        return { ...state, allowed: state.count <= request.limit };
      },
    })),
  },
  'counts all buckets together': {
    case: 'rate limits: buckets are counted apart, by their exact names',
    spoil: spoiled(({ consume }) => ({ consume: (request) => consume({ ...request, bucket: 'all' }) })),
  },
  'ends a window one millisecond late': {
    case: 'rate limits: a window ends at its exact millisecond, whether it was full or not',
    spoil: spoiled(({ consume }) => ({
      consume: (request) => consume({ ...request, now: request.now - 1 }),
    })),
  },
  'counts a look': {
    case: 'rate limits: a look counts nothing',
    spoil: spoiled(({ consume }) => ({ peek: consume })),
  },
  'takes every key for live': {
    case: 'rate limits: counts the requests of a key as all others, and says whether the key is live',
    spoil: spoiled(({ consume }) => ({
      consumeOfKey: async (_key, request) => ({ ...(await consume(request)), keyIsLive: true }),
    })),
  },
  'does not count the requests of keys': {
    case: 'rate limits: counts the requests of a key as all others, and says whether the key is live',
    spoil: spoiled(({ consumeOfKey, peek }) => ({
      consumeOfKey: async (key, request) => {
        const { keyIsLive } = await consumeOfKey(key, { ...request, bucket: 'none' });
        return { ...(await peek(request)), keyIsLive };
      },
    })),
  },
  'gives one answer to all keys that are counted together': {
    case: 'rate limits: counted together in one bucket, each key has its own answer',
    spoil: spoiled(({ consumeOfKey }) => ({
      consumeOfKey: (_key, request) => consumeOfKey('key_a', request),
    })),
  },
};

describeMistakes(mistakes);
