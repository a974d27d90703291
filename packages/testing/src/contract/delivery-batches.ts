import assert from 'node:assert/strict';
import type { DeliveryResult } from '@ostiary/core/storage';
import { assertFields, assertSame, assertUnavailable, casesOf } from './case.ts';
import { hour, now } from './samples.ts';
import {
  claim,
  claimedOne,
  finish,
  listed,
  published,
  registered,
  sampleAttempt,
  statuses,
} from './webhook-samples.ts';

const day = 24 * hour;

export const deliveryBatchCases = casesOf('delivery results', {
  'attempts come back as they were logged, in order': async (storage) => {
    await registered(storage, 'a');
    await registered(storage, 'b');
    await published(storage, 'x');
    const attempts = [
      sampleAttempt(1, { at: now + 9, httpStatus: null, error: 'ECONNREFUSED', response: null }),
      sampleAttempt(2, { at: now + 5, httpStatus: 500, error: 'HTTP 500', response: '' }),
      sampleAttempt(3, { durationMs: 0, httpStatus: 302, error: '', response: "O'Hara 🗝️\u0001\r\n\\" }),
      sampleAttempt(4, { durationMs: 10_000, httpStatus: 999, error: 'x'.repeat(500) }),
      sampleAttempt(5, { response: 'ä😀"\\'.repeat(4000) }),
    ];
    for (const [index, attempt] of attempts.entries()) {
      const claimed = await claim(storage, `c${index}`);
      assertFields(claimed, 'attempt', [attempt.number, attempt.number]);
      const results = claimed.map(({ id, claimId }) => ({
        id,
        claimId,
        attempt: id.endsWith('1') ? attempt : { ...attempt, error: 'of the other' },
        isCutOff: false,
        next: { status: 'pending', dueAt: now } as const,
      }));
      assertSame(await storage.deliveries.finish(results), [true, true]);
    }
    assertSame((await listed(storage, { endpointId: 'we_a' }))[0]?.attempts, attempts);
    const other = (await listed(storage, { endpointId: 'we_b' }))[0]?.attempts;
    assertSame(
      other,
      attempts.map((attempt) => ({ ...attempt, error: 'of the other' })),
    );
  },

  'each result of a batch counts for itself': async (storage) => {
    await registered(storage, 'a');
    for (const label of ['stale', 'good', 'back', 'final', 'twice', 'unclaimed']) {
      await published(storage, label, { createdAt: label === 'unclaimed' ? now + day : now });
    }
    const held = await claim(storage, 'c1');
    assert.equal(held.length, 5);
    const result = (label: string, next: DeliveryResult['next'], claimId = 'c1', number = 1) => ({
      id: `dl_${label}_1`,
      claimId,
      attempt: sampleAttempt(number, { response: label }),
      isCutOff: false,
      next,
    });
    const delivered = { status: 'delivered' } as const;
    await storage.deliveries.finish([result('final', delivered)]);
    const results = [
      result('stale', delivered, 'c0'),
      result('good', delivered),
      result('nobody', delivered),
      { ...result('back', { status: 'pending', dueAt: now + 1 }), attempt: null },
      result('final', { status: 'dropped' }),
      result('twice', { status: 'dropped' }),
      result('twice', delivered),
      result('unclaimed', delivered),
      result('good', delivered, 'C1'),
    ];
    assertSame(await storage.deliveries.finish(results), [
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
    assertSame(await statuses(storage), {
      dl_stale_1: 'pending',
      dl_good_1: 'delivered',
      dl_back_1: 'pending',
      dl_final_1: 'delivered',
      dl_twice_1: 'dropped',
      dl_unclaimed_1: 'pending',
    });
    const logged = (await listed(storage)).filter(({ attempts }) => attempts.length > 0);
    assertSame(
      new Set(logged.map(({ id, attempts }) => `${id} ${attempts.length} ${attempts[0]?.response}`)),
      new Set(['dl_good_1 1 good', 'dl_final_1 1 final', 'dl_twice_1 1 twice']),
    );
    assertSame(await storage.deliveries.finish([]), []);
  },

  'a batch that cannot be written is not written at all': async (storage) => {
    await registered(storage, 'a');
    await published(storage, 'x');
    await published(storage, 'y');
    const [x, y] = await claim(storage, 'c1');
    assert.ok(x && y);
    await finish(storage, y, { status: 'pending', dueAt: now });
    const again = await claimedOne(storage, 'c2');
    const next = { status: 'delivered' } as const;
    const batch = [
      { ...x, attempt: sampleAttempt(1), isCutOff: false, next },
      { ...again, attempt: sampleAttempt(1), isCutOff: false, next },
    ];
    await assertUnavailable(() => storage.deliveries.finish(batch), 'a number that is logged already');
    assertSame(await statuses(storage), { dl_x_1: 'pending', dl_y_1: 'pending' });
    assert.equal(await finish(storage, x, next), true);
    assert.equal(await finish(storage, again, next), true);
  },
});
