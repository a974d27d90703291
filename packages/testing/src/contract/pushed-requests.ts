import assert from 'node:assert/strict';
import type { PushedRequest, Storage } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, inParallel } from './case.ts';
import { digestOf, minute, now } from './samples.ts';

const payload = { params: 'sealed', 'odd key "\'\\ 🗝️': [1, null, ''] };

const keyOf = (label: string, clientId = 'client-1') => ({ digest: digestOf(label), clientId });

const push = ({ pushedRequests }: Storage, label: string, changes: Partial<PushedRequest> = {}) =>
  pushedRequests.save({ ...keyOf(label), payload, expiresAt: now + minute, ...changes });

export const pushedRequestCases = casesOf('pushed requests', {
  'a request is found by its client alone, until its exact end': async (storage) => {
    const { pushedRequests } = storage;
    await push(storage, 'a');
    assertSame(await pushedRequests.find(keyOf('a'), now + minute - 1), { payload, isUsed: false });
    assert.equal(await pushedRequests.find(keyOf('a'), now + minute), null);
    assert.equal(await pushedRequests.find(keyOf('a', 'client-2'), now), null);
    assert.equal(await pushedRequests.find(keyOf('b'), now), null);
  },

  'a request is used once, by its client, before its end': async (storage) => {
    const { pushedRequests } = storage;
    await push(storage, 'a');
    await push(storage, 'b');
    assert.equal(await pushedRequests.use(keyOf('a', 'client-2'), now), false);
    assert.equal(await pushedRequests.use(keyOf('unknown'), now), false);
    assert.equal(await pushedRequests.use(keyOf('a'), now + minute), false);
    assert.equal(await pushedRequests.use(keyOf('a'), now + minute - 1), true);
    assert.equal(await pushedRequests.use(keyOf('a'), now), false);
    assertSame(await pushedRequests.find(keyOf('a'), now), { payload, isUsed: true });
    assertSame(await pushedRequests.find(keyOf('b'), now), { payload, isUsed: false });
  },

  'of many uses at the same time, one is the first': async (storage) => {
    await push(storage, 'a');
    const results = await inParallel(20, () => storage.pushedRequests.use(keyOf('a'), now));
    assertSame(
      results.filter((isFirst) => isFirst),
      [true],
    );
  },

  'the payload of a used request is replaced, and of no other': async (storage) => {
    const { pushedRequests } = storage;
    await push(storage, 'a');
    await push(storage, 'b');
    await pushedRequests.use(keyOf('a'), now);
    for (const key of [keyOf('a', 'client-2'), keyOf('b'), keyOf('unknown')])
      await pushedRequests.replaceUsed(key, { step: 1 });
    assertSame(await pushedRequests.find(keyOf('a'), now), { payload, isUsed: true });
    await pushedRequests.replaceUsed(keyOf('a'), { step: 2 });
    assertSame(await pushedRequests.find(keyOf('a'), now), { payload: { step: 2 }, isUsed: true });
    assertSame(await pushedRequests.find(keyOf('b'), now), { payload, isUsed: false });
  },

  'requests count until they end, used ones too, and are no interactions': async (storage) => {
    const { pushedRequests, interactions } = storage;
    await push(storage, 'a');
    await push(storage, 'b', { expiresAt: now + 1 });
    await pushedRequests.use(keyOf('a'), now);
    assert.equal(await pushedRequests.count(now, 10), 2);
    assert.equal(await pushedRequests.count(now, 1), 1);
    assert.equal(await pushedRequests.count(now + 1, 10), 1);
    assert.equal(await interactions.count(now), 0);
    assert.equal(await interactions.find(digestOf('a'), now), null);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const pushedRequestCalls: Calls<'pushedRequests'> = {
  count: ({ pushedRequests }) => pushedRequests.count(now, 10),
  save: (storage) => push(storage, 'a'),
  find: ({ pushedRequests }) => pushedRequests.find(keyOf('a'), now),
  use: ({ pushedRequests }) => pushedRequests.use(keyOf('a'), now),
  replaceUsed: ({ pushedRequests }) => pushedRequests.replaceUsed(keyOf('a'), {}),
};
