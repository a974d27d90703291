import assert from 'node:assert/strict';
import { assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedIds,
  claimedOne,
  finish,
  leaseMs,
  listed,
  published,
  registered,
  sampleAttempt,
  statuses,
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

  'of parallel results of one claim exactly one counts': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c');
    const answers = await inParallel(20, (index) =>
      finish(storage, claimed, { status: index % 2 === 0 ? 'delivered' : 'dropped' }, now + index),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    const winner = answers.indexOf(true);
    const [shown] = await listed(storage);
    assert.equal(shown?.status, winner % 2 === 0 ? 'delivered' : 'dropped');
    assertSame(
      shown?.attempts.map(({ at }) => at),
      [now + winner],
    );
  },

  'a late result counts while nobody took over, and not after that': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    await published(storage, 'y');
    const [x, y] = await claim(storage, 'slow');
    assert.ok(x && y);
    const late = now + 9 * leaseMs;
    assert.equal(await finish(storage, x, { status: 'delivered' }, late), true);
    assertSame(await claimedIds(storage, 'next', { now: late }), ['dl_y_1']);
    assert.equal(await finish(storage, y, { status: 'delivered' }, late), false);
    assertSame(await statuses(storage), { dl_x_1: 'delivered', dl_y_1: 'pending' });
    assertSame((await listed(storage, { status: 'pending' }))[0]?.attempts, []);
  },

  'results race with the next claim: the attempt counts or the delivery is handed out': async (storage) => {
    await registered(storage, 'a');
    for (let round = 0; round < 10; round += 1) {
      const { id: eventId } = await published(storage, `${round}`);
      const held = await claimedOne(storage, `first ${round}`);
      const [taken, , counted] = await Promise.all([
        claim(storage, `second ${round}`, { now: now + leaseMs }),
        published(storage, `noise ${round}`, { createdAt: now + day }),
        finish(storage, held, { status: 'delivered' }),
      ]);
      assert.equal(taken.length, counted ? 0 : 1);
      const [next] = taken;
      if (next !== undefined) assert.equal(await finish(storage, next, { status: 'delivered' }), true);
      const [shown] = await listed(storage, { eventId });
      assert.equal(shown?.attempts.length, 1);
    }
  },
});
