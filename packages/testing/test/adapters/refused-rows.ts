import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import {
  assertNothingStored,
  create,
  created,
  sampleClaim,
  sampleTransfer,
  settle,
} from '../../src/contract/partner-samples.ts';
import { now } from '../../src/contract/samples.ts';
import { claim, dropped, listed, published, sampleAttempt } from '../../src/contract/webhook-samples.ts';
import { sequence, unavailable } from './host-transactions.ts';

/** A storage with one endpoint, and direct access to its tables. */
export interface TableStage {
  readonly storage: Storage;
  /** Makes a table refuse rows that meet a condition. Returns a function that removes this rule. */
  refuse(table: string, condition: string): Promise<() => Promise<unknown>>;
  count(table: string): Promise<number>;
}

/** Defines the tests of calls with a row that cannot be stored, for every kind of database. */
export function refusedRowTests(stage: () => Promise<TableStage>, deliveryTable: string): void {
  test('a settlement whose delivery cannot be stored is undone, and the next one takes its number', async () => {
    const { storage, refuse } = await stage();
    for (const label of ['1', '2']) await created(storage, label);
    await refuse(deliveryTable, "NEW.id LIKE '%tr\\_1%' ESCAPE '\\'");
    const complete = (id: string) => settle(storage, { id, status: 'completed', failure: null, now });
    await expect(complete('tr_1')).rejects.toMatchObject(unavailable);
    expect(await complete('tr_2')).toMatchObject({ settled: true });
    expect((await storage.transfers.findById('tr_1'))?.status).toBe('pending');
    expect(await sequence(storage)).toEqual([expect.stringContaining('tr_2')]);
    expect(await listed(storage)).toHaveLength(1);
  });

  test('a transfer whose job cannot be stored is not stored, and its key is free', async () => {
    const { storage, refuse } = await stage();
    const [transfer, claimed] = [sampleTransfer('1', { reference: 'order 7' }), sampleClaim('key')];
    const allow = await refuse('jobs', "NEW.id = 'execute tr_1'");
    await expect(create(storage, transfer, claimed)).rejects.toMatchObject(unavailable);
    await assertNothingStored(storage, transfer, claimed);
    await allow();
    expect(await create(storage, transfer, claimed)).toEqual({ outcome: 'created' });
  });

  test('an attempt that cannot be logged leaves its batch with the worker', async () => {
    const { storage, refuse } = await stage();
    for (const label of ['1', '2']) await published(storage, label);
    const results = (await claim(storage, 'c')).map(({ id, claimId }) => ({
      ...{ id, claimId, attempt: sampleAttempt(1), isCutOff: false },
      next: { status: 'pending', dueAt: now + 9 } as const,
    }));
    const allow = await refuse('delivery_attempts', 'NEW.delivery_number = 2');
    await expect(storage.deliveries.finish(results)).rejects.toMatchObject(unavailable);
    expect((await listed(storage)).map(({ attempts }) => attempts)).toEqual([[], []]);
    await allow();
    expect(await storage.deliveries.finish(results)).toEqual([true, true]);
  });

  test('a purge takes the attempts along', async () => {
    const { storage, count } = await stage();
    await dropped(storage, '1', now - 1);
    const { id } = await dropped(storage, '2', now + 1);
    const logged = await count('delivery_attempts');
    expect(await storage.purge({ now, before: now, eventsBefore: now, limit: 9 })).toMatchObject({
      events: 1,
    });
    expect((await listed(storage)).map(({ eventId }) => eventId)).toEqual([id]);
    expect(await count('delivery_attempts')).toBe(Math.floor(logged / 2));
  });
}
