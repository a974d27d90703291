import assert from 'node:assert/strict';
import { assertSame, type Calls, casesOf } from './case.ts';
import { digestOf, minute, now } from './samples.ts';

const payload = { sealed: 'v1.a "sealed" answer\\ 🗝️', nested: { list: [1, null, ''] } };

export const interactionAnswerCases = casesOf('interaction answers', {
  'an answer is read back as it was saved, until its exact millisecond': async ({ interactionAnswers }) => {
    await interactionAnswers.save(digestOf('a'), payload, now + minute);
    await interactionAnswers.save(digestOf('b'), { step: 1 }, now + 1);
    await interactionAnswers.save(digestOf('b'), { step: 2 }, now + minute);
    assertSame(await interactionAnswers.find(digestOf('a'), now + minute - 1), payload);
    assert.equal(await interactionAnswers.find(digestOf('a'), now + minute), null);
    assertSame(await interactionAnswers.find(digestOf('b'), now + 1), { step: 2 });
    assert.equal(await interactionAnswers.find(digestOf('c'), now), null);
  },

  'an answer is no interaction, under the same digest either': async ({
    interactions,
    interactionAnswers,
  }) => {
    await interactionAnswers.save(digestOf('a'), payload, now + minute);
    assert.equal(await interactions.count(now), 0);
    assert.equal(await interactions.find(digestOf('a'), now), null);
    assert.equal(await interactions.replace(digestOf('a'), {}, now + minute), false);
    assert.equal(await interactions.remove(digestOf('a')), false);
    await interactions.save(digestOf('b'), payload, now + minute);
    assert.equal(await interactionAnswers.find(digestOf('b'), now), null);
    await interactions.remove(digestOf('b'));
    assertSame(await interactionAnswers.find(digestOf('a'), now), payload);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const interactionAnswerCalls: Calls<'interactionAnswers'> = {
  save: ({ interactionAnswers }) => interactionAnswers.save(digestOf('a'), {}, now),
  find: ({ interactionAnswers }) => interactionAnswers.find(digestOf('a'), now),
};
