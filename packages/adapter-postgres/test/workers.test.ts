import { setImmediate } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { countedTo } from '../../testing/src/contract/case.ts';
import { acme, sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  listed,
  published,
  recover,
  redeliver,
  registered,
  resultOf,
  sampleEndpoint,
} from '../../testing/src/contract/webhook-samples.ts';
import { sequence } from '../../testing/test/adapters/host-transactions.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const hold = { leaseMs: 1_000_000, limit: 40, endpointLimit: 10 };

/** Opens storages of several processes on one schema, each with its own connections. */
async function storages(count: number) {
  const schema = server.nextSchema();
  const stages = await Promise.all(Array.from({ length: count }, () => server.watched({ schema })));
  const watched = stages.map((stage) => stage.watched);
  const [first, ...others] = stages.map(({ storage }) => storage);
  if (first === undefined) throw new Error('no storage');
  const all: [Storage, ...Storage[]] = [first, ...others];
  const refusals = () => watched.flatMap((pool) => pool.refusals);
  /** Returns deliveries that are pending in only one of the two tables that list pending deliveries. */
  async function strays(): Promise<unknown[]> {
    const found = await watched[0]?.own.query(`
      SELECT id FROM (SELECT id, status FROM "${schema}".deliveries WHERE status = 'pending') AS shown
      FULL JOIN "${schema}".pending_deliveries AS waiting USING (id)
      WHERE shown.id IS NULL OR waiting.id IS NULL
    `);
    return found?.rows ?? ['no pool'];
  }
  return { all, watched, refusals, strays };
}

test('each of 2,000 deliveries is claimed by one of four workers at a time, and none is lost', async () => {
  const { all, watched, refusals, strays } = await storages(4);
  for (let index = 0; index < 10; index += 1) await registered(all[0], `${index}`);
  // Publish a few at once: all belong to one partner, so they wait for each other, and none may wait for
  // long.
  for (let from = 0; from < 200; from += 20) {
    const labels = countedTo(20).map((number) => `${from + number}`);
    await Promise.all(labels.map((label, place) => published(all[place % 4] ?? all[0], label)));
  }
  expect(await sequence(all[0])).toHaveLength(200);
  for (const pool of watched) pool.ran();

  const held = new Set<string>();
  const attempts = new Map<string, number>();
  let done = 0;
  async function work(storage: Storage, worker: number): Promise<void> {
    for (let claimId = `${worker}`; done < 2000; claimId += '+') {
      const claimed = await claim(storage, claimId, hold);
      for (const { id, attempt } of claimed) {
        expect(held.has(id), `${id} is held`).toBe(false);
        held.add(id);
        attempts.set(id, (attempts.get(id) ?? 0) + 1);
        expect(attempt).toBe(attempts.get(id));
      }
      await setImmediate();
      // Every fifth attempt fails. A stored job can be claimed by others before its worker gets the response.
      const results = claimed.map((delivery) =>
        delivery.attempt === 1 && delivery.id.endsWith('5_1')
          ? resultOf(delivery, { status: 'pending', dueAt: now })
          : resultOf(delivery),
      );
      for (const { id } of claimed) held.delete(id);
      const counted = await storage.deliveries.finish(results);
      expect(counted).toEqual(claimed.map(() => true));
      done += results.filter(({ next }) => next.status === 'delivered').length;
    }
  }
  await Promise.all(all.map(work));

  const shown = await listed(all[0], { limit: 10_000 });
  expect(shown).toHaveLength(2000);
  expect(new Set(shown.map(({ status }) => status))).toEqual(new Set(['delivered']));
  expect(shown.every(({ id, attempts: logged }) => logged.length === attempts.get(id))).toBe(true);
  expect(await claim(all[0], 'none')).toEqual([]);
  expect(await strays()).toEqual([]);
  expect(refusals()).toEqual([]);
});

test('a batch of any size is claimed with one statement and finished with one', async () => {
  const { all, watched } = await storages(1);
  for (let index = 0; index < 20; index += 1) await registered(all[0], `${index}`);
  watched[0]?.ran();
  await all[0].events.publish(
    ['a', 'b', 'c', 'd', 'e'].map((label) => sampleEvent(label)),
    { idempotency: null, now },
  );
  expect(watched[0]?.ran(), 'all events with their deliveries').toHaveLength(1);
  const claimed = await claim(all[0], 'c');
  expect(claimed).toHaveLength(100);
  await all[0].deliveries.finish(claimed.map((delivery) => resultOf(delivery)));
  expect(watched[0]?.ran()).toHaveLength(2);
});

test('simultaneous changes to the deliveries of a partner do not deadlock', async () => {
  const { all, refusals, strays } = await storages(3);
  const [first, second = first, third = first] = all;
  for (let round = 0; round < 10; round += 1) {
    for (const label of ['a', 'b', 'c']) await registered(first, `${round}${label}`);
    const numbers = countedTo(20);
    for (const number of numbers) await published(first, `${round}.${number}`);
    const claimed = await claim(first, `${round}`);
    const drop = claimed.map((delivery) => resultOf(delivery, { status: 'dropped' }));
    const [removed = '', disabled = ''] = [`we_${round}a`, `we_${round}b`];
    const late = [acme, { partner: 'other', mode: 'live' } as const].map((owner) =>
      sampleEvent(`late ${round} ${owner.partner}`, owner),
    );
    const early = late.map((event) => ({
      ...event,
      id: `${event.id} 2`,
      deliveryId: `${event.deliveryId} 2`,
    }));
    await Promise.all([
      second.deliveries.finish(drop.toReversed()),
      third.deliveries.finish(drop.filter((_, index) => index % 2 === 0)),
      first.webhooks.remove(acme, removed, now),
      ...numbers.map((number) => {
        const storage = number % 2 === 0 ? second : third;
        return redeliver(storage, `evt_${round}.${number}`, `again ${round}.${number}`);
      }),
      recover(second, `we_${round}c`, `${round}c`),
      third.webhooks.replace(sampleEndpoint(`${round}b`, { enabled: false, version: 2 }), now),
      second.events.publish(late, { idempotency: null, now }),
      third.events.publish(early.toReversed(), { idempotency: null, now }),
      third.purge({ now, before: 0, eventsBefore: now + 1, limit: 30 }),
      claim(second, `${round} second`),
    ]);
    const pending = await listed(first, { status: 'pending' });
    const endpoints = new Set(pending.map(({ endpointId }) => endpointId));
    expect([endpoints.has(removed), endpoints.has(disabled)]).toEqual([false, false]);
    expect(await strays()).toEqual([]);
    await first.webhooks.remove(acme, `we_${round}c`, now);
  }
  expect(refusals()).toEqual([]);
});
