import assert from 'node:assert/strict';
import { assertSame, casesOf } from './case.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedIds,
  claimedOne,
  finish,
  listed,
  published,
  registered,
  sampleAttempt,
} from './webhook-samples.ts';

const day = 24 * 60 * minute;

export const deliveryResultCases = casesOf('delivery results', {
  'a delivery that is final is not claimed again, and shows its attempt': async (storage) => {
    await registered(storage, 'a');
    for (const status of ['delivered', 'dropped'] as const) {
      const { id: eventId } = await published(storage, status);
      const claimed = await claimedOne(storage, 'c');
      const attempt = sampleAttempt(1, { at: now + 5, durationMs: 0 });
      assert.equal(await finish(storage, claimed, { status }, now + 5), true);
      const [shown] = await listed(storage, { eventId });
      assertSame([shown?.status, shown?.nextAttemptAt, shown?.attempts], [status, null, [attempt]]);
      for (const next of [{ status: 'delivered' }, { status: 'pending', dueAt: now }] as const) {
        assert.equal(await finish(storage, claimed, next), false, 'final is final');
      }
      assertSame(await claim(storage, 'later', { now: now + day }), []);
      assertSame((await listed(storage, { eventId }))[0], shown);
    }
  },

  'a delivery that is pending again is due when it was told, with the next number': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    let dueAt = now;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      assertSame(await claim(storage, `early ${attempt}`, { now: dueAt - 1 }), []);
      const [claimed, ...others] = await claim(storage, `c${attempt}`, { now: dueAt });
      assertSame([claimed?.attempt, claimed?.dueAt, others], [attempt, dueAt, []]);
      assert.ok(claimed);
      dueAt += minute * attempt;
      assert.equal(await finish(storage, claimed, { status: 'pending', dueAt }), true);
      assert.equal((await listed(storage))[0]?.nextAttemptAt, dueAt);
    }
    const [shown] = await listed(storage);
    assertSame(
      shown?.attempts.map(({ number }) => number),
      [1, 2, 3, 4, 5],
    );
  },

  'a delivery that is due earlier than its lease ended is given out then': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c1');
    await finish(storage, claimed, { status: 'pending', dueAt: now + 1 });
    assertSame(await claim(storage, 'c2'), []);
    assertSame(await claimedIds(storage, 'c3', { now: now + 1 }), ['dl_x_1']);
  },

  'a delivery that is handed back has no attempt more': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c1');
    const back = { ...claimed, attempt: null, next: { status: 'pending', dueAt: now + 3 } } as const;
    assertSame(await storage.deliveries.finish([back]), [true]);
    assertSame(await storage.deliveries.finish([back]), [false], 'handed back is handed back');
    const [shown] = await listed(storage);
    assertSame([shown?.attempts, shown?.nextAttemptAt], [[], now + 3]);
    const [again] = await claim(storage, 'c2', { now: now + 3 });
    assertSame([again?.attempt, again?.dueAt], [1, now + 3]);
  },
});
