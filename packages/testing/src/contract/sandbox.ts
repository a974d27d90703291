import assert from 'node:assert/strict';
import { assertSame, type Calls, casesOf, inParallel } from './case.ts';
import { digestOf, minute, now } from './samples.ts';

const payload = { kycStatus: 'approved', kycTier: 2, nested: { list: [1, null, ''], 'odd key "\'\\ 🗝️': [] } };

export const sandboxCases = casesOf('sandbox records', {
  'a payload is read back as it was saved, until its exact millisecond': async ({ sandbox }) => {
    await sandbox.save(digestOf('a'), payload, now + minute);
    await sandbox.save(digestOf('b'), {}, now + minute);
    assertSame(await sandbox.find(digestOf('a'), now + minute - 1), payload);
    assert.equal(await sandbox.find(digestOf('a'), now + minute), null);
    assertSame(await sandbox.find(digestOf('b'), now), {});
    assert.equal(await sandbox.find(digestOf('c'), now), null);
  },

  'saving again replaces payload and end': async ({ sandbox }) => {
    await sandbox.save(digestOf('a'), payload, now + minute);
    await sandbox.save(digestOf('a'), { step: 2 }, now + 2 * minute);
    assertSame(await sandbox.find(digestOf('a'), now + minute), { step: 2 });
    await sandbox.save(digestOf('a'), { step: 3 }, now + 1);
    assert.equal(await sandbox.find(digestOf('a'), now + 1), null);
  },

  'a removal takes one record, and can be repeated': async ({ sandbox }) => {
    await sandbox.save(digestOf('a'), payload, now + minute);
    await sandbox.save(digestOf('b'), payload, now + minute);
    await inParallel(5, () => sandbox.remove(digestOf('a')));
    await sandbox.remove(digestOf('unknown'));
    assert.equal(await sandbox.find(digestOf('a'), now), null);
    assertSame(await sandbox.find(digestOf('b'), now), payload);
    await sandbox.save(digestOf('a'), { step: 2 }, now + minute);
    assertSame(await sandbox.find(digestOf('a'), now), { step: 2 }, 'it can be saved anew');
  },

  'of parallel takes one returns the payload, until its exact millisecond': async ({ sandbox }) => {
    await sandbox.save(digestOf('a'), payload, now + minute);
    await sandbox.save(digestOf('b'), payload, now + minute);
    assert.equal(await sandbox.take(digestOf('a'), now + minute), null);
    const taken = await inParallel(20, () => sandbox.take(digestOf('a'), now + minute - 1));
    assertSame(
      taken.filter((one) => one !== null),
      [payload],
    );
    assert.equal(await sandbox.find(digestOf('a'), now), null);
    assert.equal(await sandbox.take(digestOf('unknown'), now), null);
    assertSame(await sandbox.find(digestOf('b'), now), payload);
  },

  'a record is no interaction, under the same digest either': async ({ sandbox, interactions }) => {
    await sandbox.save(digestOf('a'), payload, now + minute);
    assert.equal(await interactions.count(now), 0);
    assert.equal(await interactions.find(digestOf('a'), now), null);
    assert.equal(await interactions.replace(digestOf('a'), {}, now + minute), false);
    assert.equal(await interactions.remove(digestOf('a')), false);
    await interactions.save(digestOf('b'), payload, now + minute);
    assert.equal(await sandbox.find(digestOf('b'), now), null);
    assertSame(await sandbox.find(digestOf('a'), now), payload);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const sandboxCalls: Calls<'sandbox'> = {
  save: ({ sandbox }) => sandbox.save(digestOf('a'), {}, now),
  find: ({ sandbox }) => sandbox.find(digestOf('a'), now),
  take: ({ sandbox }) => sandbox.take(digestOf('a'), now),
  remove: ({ sandbox }) => sandbox.remove(digestOf('a')),
};
