import assert from 'node:assert/strict';
import type { Storage, UsedId } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, inParallel } from './case.ts';
import { digestOf, minute, now } from './samples.ts';

const use = ({ proofIds }: Storage, label: string, changes: Partial<UsedId> = {}): Promise<boolean> =>
  proofIds.use({ namespace: 'dpop', digest: digestOf(label), expiresAt: now + minute, now, ...changes });

export const usedIdCases = casesOf('used ids', {
  'an id is used once, until its exact end': async (storage) => {
    assert.equal(await use(storage, 'a'), true);
    assert.equal(await use(storage, 'a'), false);
    assert.equal(await use(storage, 'a', { now: now + minute - 1 }), false);
    assert.equal(await use(storage, 'b'), true, 'another id is new');
    assert.equal(await use(storage, 'a', { now: now + minute, expiresAt: now + 2 * minute }), true);
    assert.equal(await use(storage, 'a', { now: now + 2 * minute - 1 }), false, 'with its new end');
  },

  'a later use neither prolongs nor shortens the first one': async (storage) => {
    await use(storage, 'a');
    assert.equal(await use(storage, 'a', { expiresAt: now + 9 * minute }), false);
    assert.equal(await use(storage, 'a', { expiresAt: now + 1 }), false);
    assert.equal(await use(storage, 'a', { now: now + minute - 1 }), false);
    assert.equal(await use(storage, 'a', { now: now + minute }), true);
  },

  'an id of another kind is another id': async (storage) => {
    assert.equal(await use(storage, 'a'), true);
    assert.equal(await use(storage, 'a', { namespace: 'client_assertion' }), true);
    assert.equal(await use(storage, 'a', { namespace: 'client_assertion' }), false);
  },

  'of many calls at the same time, one is the first': async (storage) => {
    const results = await inParallel(20, () => use(storage, 'a'));
    assertSame(
      results.filter((isFirst) => isFirst),
      [true],
    );
    const afterTheEnd = await inParallel(20, () =>
      use(storage, 'a', { now: now + minute, expiresAt: now + 2 * minute }),
    );
    assertSame(
      afterTheEnd.filter((isFirst) => isFirst),
      [true],
    );
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const usedIdCalls: Calls<'proofIds'> = {
  use: (storage) => use(storage, 'a'),
};
