import type { Storage } from '@ostiary/core';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { patient } from '../../../tests/support/patient.ts';
import { postgresStorage } from '../src/index.ts';
import { sampleEndpoint, sampleEvent, sampleResult } from './samples.ts';
import { schemaNames, startServer, type TestServer } from './server.ts';
import { type WatchedPool, watchedPool } from './watched-pool.ts';

let server: TestServer;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const removed = 200_000;
const now = 10_000_000;
const hour = 3_600_000;
const hold = { claimId: 'c', now, leaseMs: 30_000, limit: 50, room: 9, rooms: new Map() };

interface Stage {
  readonly storage: Storage;
  readonly watched: WatchedPool;
  readonly schema: string;
  /** Ends the transaction and cleans a table. */
  release(table: string): Promise<void>;
}

/** A storage beside a transaction that began before everything else and does not end. */
async function withOldTransaction(): Promise<Stage> {
  const schema = nextSchema();
  const watched = watchedPool(server.url);
  const storage = postgresStorage({ pool: watched.pool, schema });
  await storage.open();
  const forgotten = new Client({ connectionString: server.url });
  await forgotten.connect();
  onTestFinished(async () => {
    await forgotten.end();
    await storage.close();
    await watched.end();
  });
  await forgotten.query('BEGIN; SELECT pg_current_xact_id()');
  return {
    storage,
    watched,
    schema,
    async release(table) {
      await forgotten.query('ROLLBACK');
      await watched.own.query(`VACUUM "${schema}".${table}`);
    },
  };
}

/** The pages that the last statement which mentions a table reads when it runs once more; nothing stays of it. */
async function pagesRead({ watched }: Stage, table: string): Promise<number> {
  const last = watched.ran().findLast(({ text }) => text.includes(table));
  const client = await watched.own.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${last?.text}`, [
      ...(last?.values ?? []),
    ]);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** Endpoints `we_1` and `we_2`, for which very many deliveries were made and removed, and one each is left. */
async function manyDelivered() {
  const stage = await withOldTransaction();
  const { storage, watched, schema } = stage;
  for (const label of ['1', '2', '3']) {
    const endpoint = sampleEndpoint(label, { events: [label] });
    await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  }
  await publish(storage, '1', 'first', now - hour);
  await publish(storage, '2', 'second', now - hour + 1);
  await watched.own.query(`
    INSERT INTO "${schema}".pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT 'dl_gone ' || i, 1000 + i, 'we_' || 1 + i % 2, 1, ${now - 2 * hour} + i FROM generate_series(1, ${removed}) AS i;
    DELETE FROM "${schema}".pending_deliveries WHERE id LIKE 'dl_gone %'
  `);
  watched.ran();
  return stage;
}

function publish({ events }: Storage, endpoint: string, label: string, createdAt: number) {
  return events.publish([sampleEvent(label, { type: endpoint, createdAt })], { idempotency: null, now });
}

type Request = Partial<Parameters<Storage['deliveries']['claim']>[0]>;

async function claimed({ storage }: Stage, request: Request = {}): Promise<string[]> {
  const rows = await storage.deliveries.claim({ ...hold, ...request });
  return rows.map(({ id }) => id);
}

/** Claims nothing until claims begin where a survey says. Answers how many looks it took. */
async function looksUntilBounded(stage: Stage): Promise<number> {
  const slots = new Map(['we_1', 'we_2', 'we_3'].map((id) => [id, 0]));
  for (let look = 1; ; look += 1) {
    expect(await claimed(stage, { slots })).toEqual([]);
    if (isBounded(stage)) return look;
    if (look === 200) throw new Error('claims look at everything');
  }
}

/** Whether the last claim began where a survey says. */
function isBounded({ watched }: Stage): boolean {
  const last = watched.ran().findLast(({ text }) => text.includes(' AS due') || text.includes('due AS'));
  return last?.text.includes('surveyed') === true;
}

test('beside an open transaction claims soon stop to pass what was delivered', async () => {
  const stage = await manyDelivered();
  expect(await claimed(stage, { limit: 1 })).toEqual(['dl_first_1']);
  expect(await pagesRead(stage, 'pending_deliveries')).toBeGreaterThan(removed / 10);
  expect(await looksUntilBounded(stage)).toBeLessThan(40);
  expect(await claimed(stage)).toEqual(['dl_second_1']);
  expect(await pagesRead(stage, 'pending_deliveries')).toBeLessThan(400);
}, 60_000);

test('such claims find what is due, for endpoints of the survey and for others, in their turn', async () => {
  const stage = await manyDelivered();
  const { storage } = stage;
  await looksUntilBounded(stage);
  await publish(storage, '3', 'third', now);
  await publish(storage, '1', 'fourth', now - 1);
  await publish(storage, '2', 'future', now + 1);
  expect(await claimed(stage, { limit: 1, after: 'we_2' })).toEqual(['dl_third_1']);
  expect(await claimed(stage, { room: 1, rooms: new Map([['we_2', 0]]) })).toEqual(['dl_first_1']);
  expect(await claimed(stage, { room: 0, rooms: new Map([['we_2', 1]]) })).toEqual(['dl_second_1']);
  expect(isBounded(stage)).toBe(true);

  // What an earlier claim has lost, and what is tried again.
  const later = await storage.deliveries.claim({ ...hold, claimId: 'd', now: now + hold.leaseMs });
  expect(later.map(({ id }) => id)).toEqual([
    'dl_first_1',
    'dl_fourth_1',
    'dl_second_1',
    'dl_future_1',
    'dl_third_1',
  ]);
  const retry = { status: 'pending', dueAt: now + hour } as const;
  const results = later.map((delivery) =>
    sampleResult(delivery, delivery.id === 'dl_first_1' ? retry : undefined),
  );
  expect(await storage.deliveries.finish(results)).not.toContain(false);
  expect(await claimed(stage, { now: now + hour - 1 })).toEqual([]);
  expect(await claimed(stage, { now: now + hour })).toEqual(['dl_first_1']);
}, 60_000);

test('what was committed long after it became due waits for the next survey, and no longer', async () => {
  const stage = await manyDelivered();
  await looksUntilBounded(stage);
  await publish(stage.storage, '3', 'late', now - hour);
  await vi.waitFor(async () => expect(await claimed(stage)).toContain('dl_late_1'), patient);
}, 60_000);

test('after the end of the transaction claims look at everything again', async () => {
  const stage = await manyDelivered();
  await looksUntilBounded(stage);
  await stage.release('pending_deliveries');
  await vi.waitFor(async () => {
    await claimed(stage, { rooms: new Map() });
    expect(isBounded(stage)).toBe(false);
  }, patient);
}, 60_000);

test('claims of jobs stop to pass what was done too', async () => {
  const stage = await withOldTransaction();
  const { storage, watched, schema } = stage;
  const job = (id: string, kind: string, dueAt: number) => ({ id, kind, payload: {}, dueAt });
  await watched.own.query(`
    INSERT INTO "${schema}".jobs (id, kind, payload, due_at)
      SELECT 'gone ' || i, 'a', '{}', ${now - 2 * hour} + i FROM generate_series(1, ${removed}) AS i;
    DELETE FROM "${schema}".jobs
  `);
  await storage.queue.enqueue([job('held', 'a', now - hour)]);
  const request = { kinds: ['a', 'b'], claimId: 'c', now, leaseMs: 30_000, limit: 9 };
  const ids = async (changes = {}) =>
    (await storage.queue.claim({ ...request, ...changes })).map(({ id }) => id);

  expect(await ids()).toEqual(['held']);
  watched.ran();
  const isQuick = async () => {
    expect(await ids()).toEqual([]);
    return (await pagesRead(stage, '.jobs SET claim_id')) < 100;
  };
  expect(await isQuick()).toBe(false);
  await vi.waitFor(async () => expect(await isQuick()).toBe(true), patient);

  await storage.queue.enqueue([
    job('known', 'a', now),
    job('other', 'b', now - 1),
    job('future', 'b', now + 1),
  ]);
  expect(await ids()).toEqual(['other', 'known']);
  await storage.queue.enqueue([job('late', 'b', now - hour)]);
  await vi.waitFor(async () => expect(await ids()).toEqual(['late']), patient);
  const later = await ids({ now: now + request.leaseMs });
  expect(later.sort()).toEqual(['future', 'held', 'known', 'late', 'other']);

  await stage.release('jobs');
  expect(await ids({ now: now + 2 * request.leaseMs })).toHaveLength(5);
}, 60_000);
