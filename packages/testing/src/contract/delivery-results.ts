import assert from 'node:assert/strict';
import { assertFields, assertSame, casesOf } from './case.ts';
import { minute, now } from './samples.ts';
import {
  claim,
  claimedOne,
  finish,
  leaseMs,
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

  'a delivery that is handed back has no attempt more': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c1');
    const next = { status: 'pending', dueAt: now + 3 } as const;
    const back = { ...claimed, attempt: null, isCutOff: false, next };
    assertSame(await storage.deliveries.finish([back]), [true]);
    assertSame(await storage.deliveries.finish([back]), [false], 'handed back is handed back');
    const [shown] = await listed(storage);
    assertSame([shown?.attempts, shown?.nextAttemptAt], [[], now + 3]);
    assertSame(await claim(storage, 'early', { now: now + 2 }), []);
    const [again] = await claim(storage, 'c2', { now: now + 3 });
    assertSame([again?.attempt, again?.failures, again?.dueAt], [1, 0, now + 3]);
  },

  'deliveries of an endpoint that are handed back together are each found in their time': async (storage) => {
    await registered(storage, 'a');
    for (const label of ['x', 'y']) await published(storage, label);
    const claimed = await claim(storage, 'c1');
    const back = claimed.map((delivery, index) => {
      const next = { status: 'pending', dueAt: now + 10 * (index + 1) } as const;
      return { ...delivery, attempt: null, isCutOff: false, next };
    });
    assertSame(await storage.deliveries.finish(back), [true, true]);
    assertFields(await claim(storage, 'c2', { now: now + 10 }), 'id', ['dl_x_1']);
    assertFields(await claim(storage, 'c3', { now: now + 20 }), 'id', ['dl_y_1']);
  },

  'an attempt without a result keeps its number, and is no failure': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    await claimedOne(storage, 'killed');
    const second = await claimedOne(storage, 'c2', { now: now + leaseMs });
    assertSame([second.attempt, second.failures], [2, 0]);
    assertSame((await listed(storage))[0]?.attempts, [], 'nothing is known of the first');
    assert.equal(await finish(storage, second, { status: 'pending', dueAt: now }), true);
    const third = await claimedOne(storage, 'killed again');
    assertSame([third.attempt, third.failures], [3, 1]);
    const fourth = await claimedOne(storage, 'c4', { now: now + leaseMs });
    assertSame([fourth.attempt, fourth.failures], [4, 1]);
    assert.equal(await finish(storage, fourth, { status: 'delivered' }), true);
    assertFields((await listed(storage))[0]?.attempts ?? [], 'number', [2, 4]);
  },

  'an attempt that was cut off is logged with its number, and is no failure': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const next = { status: 'pending', dueAt: now } as const;
    for (const number of [1, 2]) {
      const { id, claimId, attempt, failures } = await claimedOne(storage, `c${number}`);
      assertSame([attempt, failures], [number, 0]);
      const result = { id, claimId, attempt: sampleAttempt(attempt), isCutOff: true, next };
      assertSame(await storage.deliveries.finish([result]), [true]);
    }
    const third = await claimedOne(storage, 'c3');
    assertSame([third.attempt, third.failures], [3, 0]);
    assert.equal(await finish(storage, third, next), true);
    const fourth = await claimedOne(storage, 'c4');
    assertSame([fourth.attempt, fourth.failures], [4, 1]);
    assertFields((await listed(storage))[0]?.attempts ?? [], 'number', [1, 2, 3]);
  },
});
