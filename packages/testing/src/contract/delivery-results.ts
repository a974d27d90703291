import assert from 'node:assert/strict';
import { assertSame, casesOf } from './case.ts';
import { minute, now } from './samples.ts';
import {
  claim,
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

  'a delivery that is handed back has no attempt more': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c1');
    const back = { ...claimed, attempt: null, next: { status: 'pending', dueAt: now + 3 } } as const;
    assertSame(await storage.deliveries.finish([back]), [true]);
    assertSame(await storage.deliveries.finish([back]), [false], 'handed back is handed back');
    const [shown] = await listed(storage);
    assertSame([shown?.attempts, shown?.nextAttemptAt], [[], now + 3]);
    assertSame(await claim(storage, 'early', { now: now + 2 }), []);
    const [again] = await claim(storage, 'c2', { now: now + 3 });
    assertSame([again?.attempt, again?.dueAt], [1, now + 3]);
  },
});
