import assert from 'node:assert/strict';
import { assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import {
  assertNothingStored,
  assertOutcome,
  create,
  executions,
  sampleClaim,
  sampleTransfer,
} from './partner-samples.ts';
import { digestOf, hour, minute, now } from './samples.ts';

export const replayCases = casesOf('replays', {
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
