import type { Storage } from '@ostiary/core/storage';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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

const delivered = 20_000;
const now = 10_000_000;
const hold = { now, leaseMs: 30_000, limit: 1_000, room: 1_000, rooms: new Map<string, number>() };

interface Stage {
  readonly storage: Storage;
  readonly watched: WatchedPool;
}

/**
 * Endpoints `we_1` and `we_2`, for which very many deliveries were made and delivered beside a transaction that began before
 * everything else and does not end: PostgreSQL keeps each version of each row.
 */
async function manyDelivered(): Promise<Stage> {
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
  for (const label of ['1', '2']) {
    const endpoint = sampleEndpoint(label, { events: [label] });
    await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  }
  const events = Array.from({ length: delivered }, (_, index) =>
    sampleEvent(`gone ${index}`, { type: `${1 + (index % 2)}`, createdAt: now - 1 }),
  );
  for (let first = 0; first < delivered; first += 1_000) {
    await storage.events.publish(events.slice(first, first + 1_000), { idempotency: null, now });
  }
  for (let left = delivered; left > 0; left -= 1_000) {
    const claimed = await storage.deliveries.claim({ ...hold, claimId: `${left}` });
    expect(claimed).toHaveLength(1_000);
    await storage.deliveries.finish(claimed.map((delivery) => sampleResult(delivery)));
  }
  watched.ran();
  return { storage, watched };
}

function publish({ storage: { events } }: Stage, endpoint: string, label: string) {
  return events.publish([sampleEvent(label, { type: endpoint, createdAt: now })], { idempotency: null, now });
}

/** Claims, and answers with the pages that the same claim reads when it runs once more; nothing stays of that. */
async function claimed({ storage, watched }: Stage, at: number) {
  const rows = await storage.deliveries.claim({ ...hold, claimId: `at ${at}`, now: at });
  const last = watched.ran().findLast(({ text }) => text.includes('news AS MATERIALIZED'));
  const client = await watched.own.connect();
  try {
    await client.query('BEGIN');
    const explained = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${last?.text}`, [
      ...(last?.values ?? []),
    ]);
    const { Plan: plan } = explained.rows[0]['QUERY PLAN'][0];
    return { ids: rows.map(({ id }) => id), pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

test('beside an open transaction a claim passes nothing that was delivered', async () => {
  const stage = await manyDelivered();
  await publish(stage, '1', 'first');
  await publish(stage, '2', 'second');
  const { ids, pages } = await claimed(stage, now);
  expect(ids).toEqual(['dl_first_1', 'dl_second_1']);
  expect(pages).toBeLessThan(200);
}, 60_000);

test('it finds what was lost after the end of its lease, and passes the leases that ended well once', async () => {
  const stage = await manyDelivered();
  await publish(stage, '1', 'lost');
  expect((await claimed(stage, now)).ids).toEqual(['dl_lost_1']);
  expect((await claimed(stage, now + hold.leaseMs - 1)).ids).toEqual([]);
  expect((await claimed(stage, now + hold.leaseMs)).ids).toEqual(['dl_lost_1']);
  await publish(stage, '1', 'next');
  const { ids, pages } = await claimed(stage, now + hold.leaseMs + 1);
  expect(ids).toEqual(['dl_next_1']);
  expect(pages).toBeLessThan(200);
}, 60_000);
