import assert from 'node:assert/strict';
import type { IdempotencyClaim } from '@ostiary/core/storage';
import { assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import {
  assertNothingStored,
  assertOutcome,
  create,
  created,
  executions,
  sampleClaim,
  sampleTransfer,
} from './partner-samples.ts';
import { digestOf, hour, minute, now } from './samples.ts';

export const replayCases = casesOf('replays', {
  'of parallel requests with one key one is stored, and the others give its answer': async (storage) => {
    for (let round = 0; round < 3; round += 1) {
      const claim = sampleClaim(`key ${round}`);
      const labels = Array.from({ length: 50 }, (_, index) => `${round}.${index}`);
      // Each has a transfer and an answer of its own, as requests that cannot see each other do.
      const answerOf = (label: string) => ({ status: 201, body: `{ "id" : "tr_${label}", "é": "🗝️" }` });
      const answers = await Promise.all(
        labels.map((label) => create(storage, sampleTransfer(label), { ...claim, answer: answerOf(label) })),
      );
      assertSame(countAnswers(answers.map(({ outcome }) => outcome)), { created: 1, replayed: 49 });
      const winner = answers.findIndex(({ outcome }) => outcome === 'created');
      const answer = answerOf(labels[winner] ?? 'nobody');
      for (const [index, label] of labels.entries()) {
        if (index === winner) continue;
        assertSame(answers[index], { outcome: 'replayed', answer });
        await assertNothingStored(storage, sampleTransfer(label));
      }
      assertSame(await storage.idempotency.find({ ...claim, now }), { outcome: 'replayed', answer });
      assert.equal((await executions(storage)).length, round + 1);
    }
  },

  'a key with another payload is a conflict and changes nothing': async (storage) => {
    const claim = sampleClaim('key');
    await create(storage, sampleTransfer('a'), claim);
    const other = { ...claim, fingerprint: digestOf('another'), answer: { status: 201, body: 'another' } };
    const second = sampleTransfer('b', { reference: 'order 7' });
    assertSame(await create(storage, second, other), { outcome: 'key_conflict' });
    await assertNothingStored(storage, second);
    assertSame(await create(storage, second, claim), { outcome: 'replayed', answer: claim.answer });
    await created(storage, 'c', { reference: 'order 7' });
  },

  'of parallel requests with one key and two payloads one is stored': async (storage) => {
    const fingerprints = [digestOf('one'), digestOf('other')];
    const claims = Array.from({ length: 40 }, (_, index) =>
      sampleClaim('key', { fingerprint: fingerprints[index % 2] ?? digestOf('none') }),
    );
    const answers = await inParallel(40, (index) =>
      create(storage, sampleTransfer(`${index}`), claims[index]),
    );
    const outcomes = answers.map(({ outcome }) => outcome);
    assertSame(countAnswers(outcomes), { created: 1, replayed: 19, key_conflict: 20 });
    const winner = outcomes.indexOf('created');
    for (const [index, outcome] of outcomes.entries()) {
      assert.equal(outcome === 'key_conflict', index % 2 !== winner % 2);
    }
    assertSame(await executions(storage), [`tr_${winner}`]);
  },

  'one key means another request for another partner and in another mode': async (storage) => {
    const owners = [
      { partner: 'acme', mode: 'live' },
      { partner: 'acme', mode: 'test' },
      { partner: 'other', mode: 'live' },
      { partner: 'other', mode: 'test' },
    ] as const;
    // The same fingerprint and different ones: neither may matter across owners.
    for (const [index, owner] of owners.entries()) {
      const fingerprint = digestOf(index < 2 ? 'same' : `${index}`);
      const claim = sampleClaim('key', { ...owner, fingerprint, answer: { status: 201, body: `${index}` } });
      assertOutcome(await create(storage, sampleTransfer(`${index}`, owner), claim), 'created');
    }
    for (const [index, owner] of owners.entries()) {
      const fingerprint = digestOf(index < 2 ? 'same' : `${index}`);
      const replay = await create(
        storage,
        sampleTransfer('late', owner),
        sampleClaim('key', { ...owner, fingerprint }),
      );
      assertSame(replay, { outcome: 'replayed', answer: { status: 201, body: `${index}` } });
    }
    assert.equal((await executions(storage)).length, 4);
  },

  'a record that has ended is overwritten, at its exact millisecond': async (storage) => {
    const first = sampleClaim('key', { endsAt: now + minute });
    const second: IdempotencyClaim = {
      ...first,
      fingerprint: digestOf('second'),
      answer: { status: 202, body: 'second' },
      endsAt: now + hour,
    };
    assertOutcome(await create(storage, sampleTransfer('a'), first), 'created');
    assertOutcome(await create(storage, sampleTransfer('b'), second, now + minute - 1), 'key_conflict');
    assertOutcome(await create(storage, sampleTransfer('b'), second, now + minute), 'created');
    assertOutcome(await create(storage, sampleTransfer('c'), first, now + minute), 'key_conflict');
    const replay = await create(storage, sampleTransfer('c'), second, now + hour - 1);
    assertSame(replay, { outcome: 'replayed', answer: second.answer });
    assertSame(await executions(storage), ['tr_a', 'tr_b']);
  },

  'of parallel requests after a record has ended exactly one is stored': async (storage) => {
    const ended = sampleClaim('key', { endsAt: now });
    await create(storage, sampleTransfer('first'), ended, now - 1);
    const claim = { ...ended, endsAt: now + hour };
    const answers = await inParallel(30, (index) => create(storage, sampleTransfer(`${index}`), claim));
    assertSame(countAnswers(answers.map(({ outcome }) => outcome)), { created: 1, replayed: 29 });
  },

  'the key is looked at before the reference': async (storage) => {
    const claim = sampleClaim('key', { endsAt: now + minute });
    const reference = 'order 7';
    await create(storage, sampleTransfer('a', { reference }), claim);
    const again = sampleTransfer('b', { reference });
    assertSame(await create(storage, again, claim), { outcome: 'replayed', answer: claim.answer });
    const other = { ...claim, fingerprint: digestOf('another') };
    assertSame(await create(storage, again, other), { outcome: 'key_conflict' });

    // The reference is what keeps a retry from paying twice once the record has ended.
    const conflict = { outcome: 'reference_conflict', transferId: 'tr_a' };
    assertSame(await create(storage, again, { ...other, endsAt: now + hour }, now + minute), conflict);
    await assertNothingStored(storage, again);
    const before = await storage.idempotency.find({ ...claim, now: now + minute - 1 });
    assertSame(before, { outcome: 'replayed', answer: claim.answer }, 'and the record was not overwritten');
    assertSame(await create(storage, again, sampleClaim('other key')), conflict);
    assertSame(await create(storage, again), conflict);
    await assertNothingStored(storage, again, sampleClaim('other key'));
  },

  'parallel requests with one key and one reference are replays, never conflicts': async (storage) => {
    const answers = await inParallel(50, (index) =>
      create(storage, sampleTransfer(`${index}`, { reference: 'order 7' }), sampleClaim('key')),
    );
    assertSame(countAnswers(answers.map(({ outcome }) => outcome)), { created: 1, replayed: 49 });
  },
});
