import { setImmediate } from 'node:timers/promises';
import type { Owner, Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { acme, sampleEndpoint, sampleEvent, sampleResult } from './samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const everything = { endpointId: null, eventId: null, status: null, after: null, limit: 10_000 };
const hold = { now: 9, leaseMs: 1_000_000, limit: 40, room: 10, rooms: new Map<string, number>() };
const other = { partner: 'other', mode: 'live' } as const;

/** Storages of several processes on one schema, each with connections of its own. */
async function storages(count: number) {
  const schema = server.nextSchema();
  const stages = await Promise.all(Array.from({ length: count }, () => server.watched({ schema })));
  const watched = stages.map((stage) => stage.watched);
  const [first, ...others] = stages.map(({ storage }) => storage);
  if (first === undefined) throw new Error('no storage');
  const all: [Storage, ...Storage[]] = [first, ...others];
  const refusals = () => watched.flatMap((pool) => pool.refusals);
  /** Deliveries that are pending in one of the two tables only. */
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

async function register({ webhooks }: Storage, label: string, owner: Owner = acme): Promise<void> {
  await webhooks.create({ endpoint: sampleEndpoint(label, owner), idempotency: null, max: 99, now: 1 });
}

function publish({ events }: Storage, labels: readonly string[], owner: Owner = acme) {
  return events.publish(
    labels.map((label) => sampleEvent(label, owner)),
    { idempotency: null, now: 1 },
  );
}

async function sequence({ events }: Storage, owner: Owner = acme): Promise<number[]> {
  const { events: all } = await events.list({ ...owner, after: 0, limit: 10_000 });
  return all.map((event) => event.sequence);
}

const countedTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('of 2,000 deliveries each is in the hands of one of four workers at a time, and none is lost', async () => {
  const { all, watched, refusals, strays } = await storages(4);
  for (let index = 0; index < 10; index += 1) await register(all[0], `${index}`);
  // Some at once: all publish for one partner, one after the other, and none may wait for long.
  for (let from = 0; from < 200; from += 20) {
    const labels = countedTo(20).map((number) => `${from + number}`);
    await Promise.all(labels.map((label, place) => publish(all[place % 4] ?? all[0], [label])));
  }
  expect(await sequence(all[0])).toEqual(countedTo(200));
  for (const pool of watched) pool.ran();

  const held = new Set<string>();
  const attempts = new Map<string, number>();
  let done = 0;
  async function work({ deliveries }: Storage, worker: number): Promise<void> {
    for (let claimId = `${worker}`; done < 2000; claimId += '+') {
      const claimed = await deliveries.claim({ ...hold, claimId });
      for (const { id, attempt } of claimed) {
        expect(held.has(id), `${id} is held`).toBe(false);
        held.add(id);
        attempts.set(id, (attempts.get(id) ?? 0) + 1);
        expect(attempt).toBe(attempts.get(id));
      }
      await setImmediate();
      // Every fifth fails once. What is written back can be claimed by others before its worker hears of it.
      const results = claimed.map((delivery) =>
        delivery.attempt === 1 && delivery.id.endsWith('5_1')
          ? sampleResult(delivery, { status: 'pending', dueAt: hold.now })
          : sampleResult(delivery),
      );
      for (const { id } of claimed) held.delete(id);
      const counted = await deliveries.finish(results);
      expect(counted).toEqual(claimed.map(() => true));
      done += results.filter(({ next }) => next.status === 'delivered').length;
    }
  }
  await Promise.all(all.map(work));

  const listed = await all[0].deliveries.list({ ...acme, ...everything });
  expect(listed).toHaveLength(2000);
  expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['delivered']));
  expect(listed.every(({ id, attempts: logged }) => logged.length === attempts.get(id))).toBe(true);
  expect(await all[0].deliveries.claim({ ...hold, claimId: 'none' })).toEqual([]);
  expect(await strays()).toEqual([]);
  expect(refusals()).toEqual([]);
});

test('a batch is claimed with one statement and finished with one, however large it is', async () => {
  const { all, watched } = await storages(1);
  for (let index = 0; index < 20; index += 1) await register(all[0], `${index}`);
  watched[0]?.ran();
  await publish(all[0], ['a', 'b', 'c', 'd', 'e']);
  expect(watched[0]?.ran(), 'begin, sequence, events with deliveries, commit').toHaveLength(4);
  const claimed = await all[0].deliveries.claim({ ...hold, limit: 100, claimId: 'c' });
  expect(claimed).toHaveLength(100);
  await all[0].deliveries.finish(claimed.map((delivery) => sampleResult(delivery)));
  expect(watched[0]?.ran()).toHaveLength(2);
});

test('publications to several partners in any order neither wait in a circle nor leave a gap', async () => {
  const { all, refusals } = await storages(3);
  await register(all[0], 'a');
  await register(all[0], 'b', other);
  await Promise.all(
    countedTo(60).map((number) => {
      const owners = number % 2 === 0 ? [acme, other] : [other, acme];
      const events = owners.map((owner) => sampleEvent(`${owner.partner} ${number}`, owner));
      return all[number % 3]?.events.publish(events, { idempotency: null, now: 1 });
    }),
  );
  for (const owner of [acme, other]) expect(await sequence(all[0], owner)).toEqual(countedTo(60));
  expect(refusals()).toEqual([]);
});

test('whatever happens to the deliveries of a partner at once, nobody waits in a circle', async () => {
  const { all, refusals, strays } = await storages(3);
  const [first, second = first, third = first] = all;
  for (let round = 0; round < 10; round += 1) {
    for (const label of ['a', 'b', 'c']) await register(first, `${round}${label}`);
    await publish(
      first,
      countedTo(20).map((number) => `${round}.${number}`),
    );
    const request = { ...hold, limit: 1000, room: 1000 };
    const claimed = await first.deliveries.claim({ ...request, claimId: `${round}` });
    const drop = claimed.map((delivery) => sampleResult(delivery, { status: 'dropped' }));
    const again = { ...acme, now: 9, idempotency: null, answer: () => ({ status: 202, body: '' }) };
    const redeliver = (storage: Storage, number: number) =>
      storage.deliveries.redeliver({
        ...again,
        eventId: `evt_${round}.${number}`,
        endpointId: null,
        deliveryId: `dl_again ${round}.${number}`,
      });
    const recover = (endpointId: string) =>
      second.deliveries.recover({
        ...again,
        endpointId,
        since: 0,
        limit: 99,
        deliveryId: `dl_${round}${endpointId}`,
      });
    const [removed = '', disabled = ''] = [`we_${round}a`, `we_${round}b`];
    await Promise.all([
      second.deliveries.finish(drop.toReversed()),
      third.deliveries.finish(drop.filter((_, index) => index % 2 === 0)),
      first.webhooks.remove(acme, removed, 9),
      ...countedTo(20).map((number) => redeliver(number % 2 === 0 ? second : third, number)),
      recover(`we_${round}c`),
      third.webhooks.replace(sampleEndpoint(`${round}b`, { enabled: false, version: 2 }), 9),
      publish(second, [`late ${round}`]),
      third.purge({ now: 9, before: 0, eventsBefore: 9, limit: 30 }),
      second.deliveries.claim({ ...request, claimId: `${round} second` }),
    ]);
    const pending = await first.deliveries.list({ ...acme, ...everything, status: 'pending' });
    const endpoints = new Set(pending.map(({ endpointId }) => endpointId));
    expect([endpoints.has(removed), endpoints.has(disabled)]).toEqual([false, false]);
    expect(await strays()).toEqual([]);
    await first.webhooks.remove(acme, `we_${round}c`, 9);
  }
  expect(refusals()).toEqual([]);
});
