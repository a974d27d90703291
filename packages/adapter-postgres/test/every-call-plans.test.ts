import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import {
  create,
  created,
  sampleClaim,
  sampleEvent,
  sampleTransfer,
} from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import { claim, published, registered, resultOf } from '../../testing/src/contract/webhook-samples.ts';
import { storeSamples } from '../../testing/test/adapters/every-call.ts';
import { pagesOf, readBy } from './plans.ts';
import { calls, identityRows } from './rows.ts';
import { hostPool, serverForTests } from './server.ts';

const server = serverForTests();

/** Returns the number of rows that the database server has read by sequential scans. */
async function rowsRead(single: Pool, schema: string): Promise<number> {
  await single.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await single.query(
    'SELECT sum(seq_tup_read) AS count FROM pg_stat_user_tables WHERE schemaname = $1',
    [schema],
  );
  return Number(rows[0].count);
}

test('no call that was prepared while there was nothing reads a table of many rows from its beginning to its end', async () => {
  const single = hostPool(server.url);
  single.options.max = 1;
  onTestFinished(() => single.end());
  const { schema, storage } = await server.opened({ pool: single });
  await storeSamples(storage);
  // Makes every call often enough for PostgreSQL to switch from plans for the given values to one plan for
  // all. A survey, and the call that runs once after the clock went back, read all waiting rows.
  const callAll = async () => {
    for (const [name, call] of calls)
      if (name !== 'survey' && name !== 'boundWaits') await call(storage).catch(() => undefined);
  };
  for (let time = 0; time < 8; time += 1) await callAll();
  const { rows: kept } = await single.query('SELECT sum(generic_plans) AS plans FROM pg_prepared_statements');
  expect(Number(kept[0].plans)).toBeGreaterThan(20);
  await single.query(`SET search_path TO "${schema}"; ${identityRows}`);
  const before = await rowsRead(single, schema);
  await callAll();
  expect((await rowsRead(single, schema)) - before).toBeLessThan(5_000);
});

test('what publishes, claims and delivers reads no table in a burst, though the server has counted nothing there', async () => {
  const single = hostPool(server.url);
  single.options.max = 1;
  onTestFinished(() => single.end());
  const { schema, storage } = await server.opened({ pool: single });
  await registered(storage, '1');
  // Analyze, as autovacuum does in a quiet time. Plans are kept until the next analysis.
  await single.query('VACUUM (ANALYZE)');
  const work = async (label: string) => {
    await created(storage, label);
    const event = sampleEvent(`paid ${label}`);
    await storage.transfers.settle({ id: `tr_${label}`, status: 'completed', failure: null, event, now });
    await published(storage, label);
    const [first, ...others] = await claim(storage, label, { now });
    const handedBack = first && resultOf(first, { status: 'pending', dueAt: now });
    const results = [...others.map((delivery) => resultOf(delivery)), ...(handedBack ? [handedBack] : [])];
    expect(await storage.deliveries.finish(results)).toEqual(results.map(() => true));
  };
  for (let round = 0; round < 8; round += 1) await work(`quiet ${round}`);
  const burst = Array.from({ length: 5_000 }, (_, index) => sampleEvent(`burst ${index}`));
  for (let from = 0; from < burst.length; from += 1_000)
    await storage.events.publish(burst.slice(from, from + 1_000), { idempotency: null, now });
  const before = await rowsRead(single, schema);
  await work('busy');
  expect((await rowsRead(single, schema)) - before).toBeLessThan(100);
});

test.each([
  ['nothing', ''],
  ['that they are empty', 'VACUUM (ANALYZE)'],
])('nor does what makes payments, while the server knows of its tables %s', async (_, count) => {
  const single = hostPool(server.url);
  single.options.max = 1;
  onTestFinished(() => single.end());
  const { schema, storage } = await server.opened({ pool: single });
  const { transfers, queue } = storage;
  await single.query(count);
  /** Returns the number of pages of tables and indexes that the database server has read. */
  const looked = async (): Promise<number> => {
    await single.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await single.query(
      `SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)) AS pages
       FROM pg_statio_user_tables WHERE schemaname = $1`,
      [schema],
    );
    return Number(rows[0].pages);
  };
  const pay = async (label: string) => {
    const before = await looked();
    const labels = Array.from({ length: 32 }, (_, index) => `${label} ${index}`);
    const orders = labels.map((each) => sampleTransfer(each, { reference: each }));
    await Promise.all(orders.map((transfer) => create(storage, transfer, sampleClaim(transfer.id))));
    const request = { kinds: ['transfer'], now: now + 9, leaseMs: 1_000 };
    const jobs = await queue.claim({ ...request, claimId: label, limit: 32 });
    const ids = jobs.map(({ payload }) => String(payload.transferId));
    const found = await Promise.all(ids.map((id) => transfers.findById(id)));
    expect(found.map((one) => one?.status)).toEqual(Array.from({ length: 32 }, () => 'pending'));
    await Promise.all(
      ids.map((id) =>
        transfers.settle({ id, status: 'completed', failure: null, event: sampleEvent(`paid ${id}`), now }),
      ),
    );
    await Promise.all(jobs.map((job) => queue.complete(job)));
    return (await looked()) - before;
  };
  const quiet: number[] = [];
  for (let round = 0; round < 8; round += 1) quiet.push(await pay(`quiet ${round}`));
  // A burst of work that no worker has processed yet.
  await single.query(`
    SET search_path TO "${schema}";
    INSERT INTO transfers
      SELECT 'tr_' || i, 'acme', 'live', 'pending', i, 'HTG', 'kid', NULL, 'burst ' || i, NULL, NULL, NULL, i, i, NULL
      FROM generate_series(1, 20000) AS i;
    INSERT INTO jobs (id, kind, payload, due_at)
      SELECT 'burst ' || i, 'transfer', '{}', ${now + 5} FROM generate_series(1, 20000) AS i
  `);
  const busy = await pay('busy');
  expect(busy).toBeLessThan(1.4 * Math.max(...quiet));
});

test('a consent is looked for among those of its user, before the server knows how many a client has', async () => {
  const { schema, storage, watched } = await server.watched();
  await storeSamples(storage);
  await watched.own.query(`
    SET search_path TO "${schema}";
    INSERT INTO consents (sub, client_id, scopes, granted_at, updated_at)
      SELECT 'many-' || i, 'client-1', '{kyc}', 1, 1 FROM generate_series(1, 5000) AS i
  `);
  const held = { partner: 'acme', sub: 'many-4999', scope: 'kyc' };
  watched.ran();
  expect(await storage.consents.partnerHolds(held)).toBe(true);
  expect(pagesOf(await readBy(watched, watched.ran().at(-1)))).toBeLessThan(10);
});
