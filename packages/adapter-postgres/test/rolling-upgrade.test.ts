import type { Storage } from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { type Migration, readMigrations } from '../src/migrations.ts';
import { storageOn } from '../src/storage.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';

let server: TestServer;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const shipped = readMigrations();
const [last] = shipped.slice(-1);

/** What a later version of the package would bring: additions only. */
const next: Migration = {
  number: (last?.number ?? 0) + 1,
  name: `${String((last?.number ?? 0) + 1).padStart(4, '0')}_notes.sql`,
  sql: `
    ALTER TABLE transfers ADD COLUMN note text;
    CREATE TABLE notes (transfer text COLLATE "C" PRIMARY KEY, text text NOT NULL);
    CREATE INDEX transfers_with_note ON transfers (note) WHERE note IS NOT NULL;
  `,
  checksum: 'of the next version',
};

/** What a process of one version has: connections of its own, and the migrations that its package ships. */
function processOf(schema: string, migrations: readonly Migration[]): { storage: Storage; pool: Pool } {
  const pool = hostPool(server.url);
  const storage = storageOn(new Database({ schema, pool, migrations }));
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  return { storage, pool };
}

const owner = { partner: 'acme', mode: 'live' } as const;

/** Work as requests and workers do it: a transfer, its job, its end, its event. */
async function serve({ transfers, queue, events }: Storage, id: string): Promise<void> {
  const transfer = {
    ...owner,
    id: `tr_${id}`,
    status: 'pending',
    amount: 1n,
    currency: 'HTG',
    recipientKid: 'kid',
    description: null,
    reference: id,
    metadata: null,
    failure: null,
    createdAt: 1,
    updatedAt: 1,
    completedAt: null,
  } as const;
  const job = { id: `job ${id}`, kind: id, payload: {}, dueAt: 1 };
  expect(await transfers.create({ transfer, idempotency: null, job, now: 1 })).toEqual({
    outcome: 'created',
  });
  const [claimed] = await queue.claim({ kinds: [id], claimId: 'c', now: 2, leaseMs: 60_000, limit: 1 });
  expect(claimed?.id).toBe(job.id);
  const event = {
    ...owner,
    id: `evt_${id}`,
    type: 'payment.completed',
    body: id,
    createdAt: 2,
    deliveryId: `dl_${id}`,
  };
  const settled = await transfers.settle({
    id: transfer.id,
    status: 'completed',
    failure: null,
    event,
    now: 2,
  });
  expect(settled?.settled).toBe(true);
  expect(await queue.complete({ id: job.id, claimId: 'c' })).toBe(true);
  expect((await events.find(owner, event.id))?.body).toBe(id);
}

test('processes of two versions serve side by side while the newer one migrates and afterwards', async () => {
  const schema = nextSchema();
  const older = processOf(schema, shipped);
  await older.storage.open();
  await serve(older.storage, 'before');

  const newer = processOf(schema, [...shipped, next]);
  let isMigrated = false;
  let served = 0;
  // The older process goes on all the time: not one of its requests fails.
  const serving = (async () => {
    for (let after = 0; after < 5; served += 1) {
      await serve(older.storage, `during ${served}`);
      if (isMigrated) after += 1;
    }
  })();
  await newer.storage.open();
  isMigrated = true;
  await serving;

  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      serve(index % 2 === 0 ? older.storage : newer.storage, `after ${index}`),
    ),
  );
  // Each sees what the other one wrote, in one gap-free sequence.
  const expected = 1 + served + 20;
  for (const { storage } of [older, newer]) {
    const { events } = await storage.events.list({ ...owner, after: 0, limit: 1000 });
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: expected }, (_, index) => index + 1),
    );
  }
  const { rows } = await newer.pool.query(`SELECT note FROM "${schema}".transfers WHERE id = 'tr_after 0'`);
  expect(rows).toEqual([{ note: null }]);
});

test('the older version is refused with a clear line when it starts again, and changes nothing', async () => {
  const schema = nextSchema();
  const newer = processOf(schema, [...shipped, next]);
  await newer.storage.open();
  const older = processOf(schema, shipped);
  await expect(older.storage.open()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message:
      `the database has schema ${next.number} (${next.name}) and this version of @ostiary/adapter-postgres ` +
      `knows ${shipped.length}: upgrade the package, schemas never go back`,
  });
  await serve(newer.storage, 'still');
  // The newer version starts again as often as it likes.
  const again = processOf(schema, [...shipped, next]);
  await again.storage.open();
  await serve(again.storage, 'again');
});

test('processes of both versions that start at once on an old schema end with the new one', async () => {
  const schema = nextSchema();
  const first = processOf(schema, shipped);
  await first.storage.open();
  const starts = Array.from({ length: 8 }, (_, index) =>
    processOf(schema, index % 2 === 0 ? shipped : [...shipped, next]),
  );
  const ends = await Promise.allSettled(starts.map(({ storage }) => storage.open()));
  const ofNewer = ends.filter((_, index) => index % 2 === 1);
  expect(ofNewer.every(({ status }) => status === 'fulfilled')).toBe(true);
  // An older one that came in time serves on; one that came too late was told to upgrade.
  for (const [index, end] of ends.entries()) {
    if (end.status === 'rejected')
      expect(end.reason).toMatchObject({ message: expect.stringContaining('upgrade the package') });
    else await serve(starts[index]?.storage ?? first.storage, `start ${index}`);
  }
  await serve(first.storage, 'first');
});
