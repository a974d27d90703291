import assert from 'node:assert/strict';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { digestOf, hour, minute, now } from './samples.ts';

const payload = {
  clientId: 'client-1',
  scopes: ['openid', 'kyc'],
  nested: { list: [1, -2.5, true, false, null, ''], empty: {}, 'odd key "\'\\ 🗝️': [] },
  biggest: Number.MAX_SAFE_INTEGER,
};

export const interactionCases = casesOf('interactions', {
  'a payload is read back as it was saved': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.save(digestOf('b'), {}, now + minute);
    assertSame(await interactions.find(digestOf('a'), now), payload);
    assertSame(await interactions.find(digestOf('b'), now), {});
    assert.equal(await interactions.find(digestOf('c'), now), null);
  },

  'an interaction ends at its exact millisecond': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    assertSame(await interactions.find(digestOf('a'), now + minute - 1), payload);
    assert.equal(await interactions.find(digestOf('a'), now + minute), null);
    assert.equal(await interactions.find(digestOf('a'), now + minute + 1), null);
  },

  'saving again replaces payload and end': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.save(digestOf('a'), { step: 2 }, now + 2 * minute);
    assertSame(await interactions.find(digestOf('a'), now + minute), { step: 2 });
    await interactions.save(digestOf('a'), { step: 3 }, now + 1);
    assert.equal(await interactions.find(digestOf('a'), now + 1), null);
  },

  'what is there is replaced, payload and end': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.save(digestOf('b'), payload, now + minute);
    assert.equal(await interactions.replace(digestOf('a'), { step: 2 }, now + 2 * minute), true);
    assertSame(await interactions.find(digestOf('a'), now + minute), { step: 2 });
    assert.equal(await interactions.find(digestOf('a'), now + 2 * minute), null);
    assertSame(await interactions.find(digestOf('b'), now), payload, 'and nothing else');
  },

  'what is not there, or not any more, is not replaced': async ({ interactions }) => {
    assert.equal(await interactions.replace(digestOf('a'), payload, now + minute), false);
    assert.equal(await interactions.find(digestOf('a'), now), null);
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.remove(digestOf('a'));
    assert.equal(await interactions.replace(digestOf('a'), payload, now + minute), false);
    assert.equal(await interactions.find(digestOf('a'), now), null);
  },

  'a replacement that races a removal never brings it back': async ({ interactions }) => {
    for (let round = 0; round < 20; round += 1) {
      const digest = digestOf(`race ${round}`);
      await interactions.save(digest, payload, now + minute);
      const removed = inParallel(2, () => interactions.remove(digest));
      await inParallel(2, () => interactions.replace(digest, { late: true }, now + minute));
      assertSame(countAnswers(await removed), { true: 1, false: 1 });
      assert.equal(await interactions.find(digest, now), null);
    }
  },

  'those that have not ended are counted': async ({ interactions }) => {
    assert.equal(await interactions.count(now), 0);
    for (const [index, endsAt] of [now - 1, now, now + 1, now + minute].entries()) {
      await interactions.save(digestOf(`${index}`), payload, endsAt);
    }
    assert.equal(await interactions.count(now), 2);
    await interactions.save(digestOf('3'), payload, now + hour);
    assert.equal(await interactions.count(now), 2, 'one that is saved again counts once');
    await interactions.remove(digestOf('2'));
    assert.equal(await interactions.count(now), 1);
  },

  'an end is put off, and never brought forward': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.save(digestOf('b'), payload, now + minute);
    await interactions.extend(digestOf('a'), now + hour);
    await interactions.extend(digestOf('a'), now + 1);
    await interactions.extend(digestOf('unknown'), now + hour);
    assertSame(await interactions.find(digestOf('a'), now + hour - 1), payload);
    assert.equal(await interactions.find(digestOf('a'), now + hour), null);
    assert.equal(await interactions.find(digestOf('b'), now + minute), null, 'and of no other');
    assert.equal(await interactions.find(digestOf('unknown'), now), null);
  },

  'exactly one of several callers removes it': async ({ interactions }) => {
    await interactions.save(digestOf('a'), payload, now + minute);
    await interactions.save(digestOf('b'), payload, now + minute);
    const answers = await inParallel(20, () => interactions.remove(digestOf('a')));
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assert.equal(await interactions.find(digestOf('a'), now), null);
    assertSame(await interactions.find(digestOf('b'), now), payload, 'and nothing else');
    assert.equal(await interactions.remove(digestOf('unknown')), false);
    await interactions.save(digestOf('a'), { step: 2 }, now + minute);
    assertSame(await interactions.find(digestOf('a'), now), { step: 2 }, 'it can be saved anew');
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const interactionCalls: Calls<'interactions'> = {
  save: ({ interactions }) => interactions.save(digestOf('a'), {}, now),
  replace: ({ interactions }) => interactions.replace(digestOf('a'), {}, now),
  count: ({ interactions }) => interactions.count(now),
  extend: ({ interactions }) => interactions.extend(digestOf('a'), now),
  find: ({ interactions }) => interactions.find(digestOf('a'), now),
  remove: ({ interactions }) => interactions.remove(digestOf('a')),
};
