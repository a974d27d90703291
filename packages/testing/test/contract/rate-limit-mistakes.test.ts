import { setImmediate } from 'node:timers/promises';
import { answered, asked, describeMistakes, instead } from './mistakes.ts';

describeMistakes({
  'looks whether there is room, then counts': [
    'rate limits: of 200 parallel requests exactly as many pass as are allowed',
    instead('rateLimits', 'consume', (consume, { rateLimits }) => async (request) => {
      const [look] = (await rateLimits?.peek([request], null))?.states ?? [];
      await setImmediate();
      return { ...(await consume({ ...request, limit: 1000 })), allowed: look?.allowed === true };
    }),
  ],
  'counts what it refuses': [
    'rate limits: what is refused is told so, and not counted',
    instead('rateLimits', 'consume', (consume) => async (request) => {
      const state = await consume({ ...request, limit: 1000 });
      return { ...state, allowed: state.count <= request.limit };
    }),
  ],
  'counts all buckets together': [
    'rate limits: buckets are counted apart, by their exact names',
    asked('rateLimits', 'consume', (request) => ({ ...request, bucket: 'all' })),
  ],
  'ends a window one millisecond late': [
    'rate limits: a window ends at its exact millisecond, whether it was full or not',
    asked('rateLimits', 'consume', (request) => ({ ...request, now: request.now - 1 })),
  ],
  'keeps a window after the clock went back': [
    'rate limits: a window is over that ends later than it can, because the clock has gone back',
    instead('rateLimits', 'consume', (consume) => {
      let latest = 0;
      return (request) => {
        latest = Math.max(latest, request.now);
        return consume({ ...request, now: latest });
      };
    }),
  ],
  'counts a look': [
    'rate limits: a look counts nothing',
    instead('rateLimits', 'peek', (peek, { rateLimits }) => async (requests, presented) => {
      for (const request of requests) await rateLimits?.consume(request);
      return peek(requests, presented);
    }),
  ],
  'gives one answer to all keys that are counted together': [
    'rate limits: counted together in one bucket, each key has its own answer',
    asked('rateLimits', 'consumeOfKey', () => 'key_a'),
  ],
  'takes every key for live': [
    'rate limits: counts the requests of a key as all others, and says whether the key is live',
    answered('rateLimits', 'consumeOfKey', (state) => ({ ...state, keyIsLive: true })),
  ],
  'finds the record of a live key for a test key': [
    'rate limits: finds with the count the record of an idempotency key, and of each its own',
    instead(
      'rateLimits',
      'consumeOfKey',
      (consume) =>
        (id, request, { idempotencyKey: key, consent }) =>
          consume(id, request, { consent, idempotencyKey: key && { ...key, mode: 'live' } }),
    ),
  ],
  'looks at consents of any partner': [
    'rate limits: says with the count whether a client of the partner holds a consent, to each of its own',
    instead(
      'rateLimits',
      'consumeOfKey',
      (consume) =>
        (id, request, { consent, ...asked }) =>
          consume(id, request, { ...asked, consent: consent && { ...consent, partner: 'acme' } }),
    ),
  ],
  'finds no grant for a client that is unknown': [
    'rate limits: finds for an exchange what a look at each would find',
    answered('rateLimits', 'peek', (found) => ({ ...found, grant: found.client && found.grant })),
  ],
});
