import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { PurgeCount, Storage } from '../../src/storage.ts';
import { purgeHandler } from '../../src/worker/purge.ts';
import { openConsent } from '../support/consent-form.ts';
import { TestClock, TestProvider } from '../support/provider.ts';

const day = 24 * 3_600_000;
const minute = 60_000;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const nothing: PurgeCount = {
  interactions: 0,
  tokens: 0,
  grants: 0,
  idempotency: 0,
  events: 0,
  deliveries: 0,
  rateLimits: 0,
};
const eventRetentionMs = 30 * day;
const job = { id: 'purge', kind: 'purge', payload: {}, dueAt: 0, claimId: 'c', attempt: 1 };

/** A storage whose purges remove so many rows, one answer after another. */
function purging(...answers: readonly PurgeCount[]) {
  const asked: unknown[] = [];
  const left = [...answers];
  const storage: Storage = {
    ...memoryStorage(),
    async purge(request) {
      asked.push(request);
      return left.shift() ?? nothing;
    },
  };
  return { storage, asked };
}

describe('the purge', () => {
  it('asks for what ended, with a day of grace, and comes again ten minutes later', async () => {
    const clock = new TestClock();
    const { storage, asked } = purging();
    const result = await purgeHandler({ storage, clock, logger: silent, eventRetentionMs })({}, job);
    expect(asked).toEqual([
      { now: clock.now(), before: clock.now() - day, eventsBefore: clock.now() - 30 * day, limit: 500 },
    ]);
    expect(result).toEqual({ dueAt: clock.now() + 10 * minute });
  });

  it.each(Object.keys(nothing) as (keyof PurgeCount)[])(
    'goes on in batches while there is a full one of %s',
    async (kind) => {
      const one = {
        interactions: 1,
        tokens: 1,
        grants: 1,
        idempotency: 1,
        events: 1,
        deliveries: 1,
        rateLimits: 1,
      };
      const full: PurgeCount = { ...one, [kind]: 500 };
      const { storage, asked } = purging(full, full, { ...full, [kind]: 499 });
      const totals: object[] = [];
      const clock = new TestClock();
      const logger = { ...silent, debug: (fields: object) => void totals.push(fields) };
      await purgeHandler({ storage, clock, logger, eventRetentionMs })({}, job);
      expect(asked).toHaveLength(3);
      const three = {
        interactions: 3,
        tokens: 3,
        grants: 3,
        idempotency: 3,
        events: 3,
        deliveries: 3,
        rateLimits: 3,
      };
      expect(totals).toEqual([{ ...three, [kind]: 1_499 }]);
    },
  );

  it('gives others a turn after a hundred batches, and comes again at once', async () => {
    const clock = new TestClock();
    const { storage, asked } = purging(
      ...Array.from({ length: 1_000 }, () => ({ ...nothing, interactions: 500 })),
    );
    expect(await purgeHandler({ storage, clock, logger: silent, eventRetentionMs })({}, job)).toEqual({
      dueAt: clock.now(),
    });
    expect(asked).toHaveLength(100);
  });
});

describe('a provider', () => {
  it('has one purge job for all processes, which runs every ten minutes', async () => {
    const storage = memoryStorage();
    const sealingKeys = [new Uint8Array(32).fill(7)];
    const first = await TestProvider.start({ storage, sealingKeys });
    const second = await TestProvider.start({ storage, sealingKeys, clock: first.clock });
    const ran = async () => [await first.ostiary.worker.runDue(), await second.ostiary.worker.runDue()];
    expect(await ran()).toEqual([1, 0]);
    first.clock.advance(10 * minute - 1);
    expect(await ran()).toEqual([0, 0]);
    first.clock.advance(1);
    const both = await Promise.all([first.ostiary.worker.runDue(), second.ostiary.worker.runDue()]);
    expect(both.toSorted()).toEqual([0, 1]);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('removes what ended, as late as it has to, and nothing that lives', async () => {
    const counts: PurgeCount[] = [];
    const inner = memoryStorage();
    const storage: Storage = {
      ...inner,
      async purge(request) {
        const count = await inner.purge(request);
        counts.push(count);
        return count;
      },
    };
    const provider = await TestProvider.start({ storage });
    const client = await provider.client();
    await provider.token(client);
    await provider.code(client);
    await openConsent(provider, client, { scope: 'openid kyc' });
    const purged = async (ms: number) => {
      provider.clock.advance(ms);
      await provider.ostiary.worker.runDue();
      return counts.at(-1);
    };
    // After an hour the interactions: the one that was left open. Those that were answered are gone already.
    expect(await purged(60 * minute)).toEqual(nothing);
    expect(await purged(10 * minute)).toEqual({ ...nothing, interactions: 1 });
    // A day after the end of the code: the grant without a token. The other one waits for its token.
    expect(await purged(day - 59 * minute)).toEqual({ ...nothing, grants: 1 });
    expect(await purged(50 * minute)).toEqual({ ...nothing, tokens: 1, grants: 1 });
    // Consent is remembered without end.
    const silently = await provider.browser().get(provider.authorizeUrl(client));
    expect(silently.location).toContain('code=');
    await provider.stop();
  });

  it('purges once its worker was started, and no more once it was stopped', async () => {
    const provider = await TestProvider.start();
    provider.ostiary.worker.start();
    await vi.waitFor(
      () => expect(provider.logged.map((line) => line.message)).toEqual(['old rows were removed']),
      patient,
    );
    await provider.ostiary.worker.stop();
    provider.clock.advance(day);
    expect(await provider.ostiary.worker.runDue()).toBe(1);
    await provider.stop();
  });
});
