import type { Storage } from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { executionOf, sampleTransfer, settle } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import { sequence } from '../../testing/test/adapters/host-transactions.ts';
import { Database } from '../src/database.ts';
import { type Migration, readMigrations } from '../src/migrations.ts';
import { storageOn } from '../src/storage.ts';
import { hostPool, serverForTests } from './server.ts';

const server = serverForTests();

const shipped = readMigrations();
const [last] = shipped.slice(-1);

/** Migration of a made-up later version, which only adds to the schema. */
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

/** Starts a process of one version of the package, with its own connections and that version's migrations. */
function processOf(schema: string, migrations: readonly Migration[]): { storage: Storage; pool: Pool } {
  const pool = hostPool(server.url);
  const storage = storageOn(new Database({ schema, pool, migrations }));
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  return { storage, pool };
}

/**
 * Makes the storage calls of requests and workers: creates a transfer, claims its job, makes the transfer
 * final, which publishes its event, and completes the job.
 */
async function serve(storage: Storage, id: string): Promise<void> {
  const transfer = sampleTransfer(id, { reference: id });
  const job = { ...executionOf(transfer), kind: id };
  const creation = await storage.transfers.create({ transfer, idempotency: null, job, now });
  expect(creation).toEqual({ outcome: 'created' });
  const claim = { kinds: [id], claimId: 'c', now, leaseMs: 60_000, limit: 1 };
  expect((await storage.queue.claim(claim))[0]?.id).toBe(job.id);
  const settlement = { id: transfer.id, status: 'completed', failure: null, now } as const;
  expect((await settle(storage, settlement))?.settled).toBe(true);
  expect(await storage.queue.complete({ id: job.id, claimId: 'c' })).toBe(true);
}

test('processes of two versions serve side by side while the newer one migrates and afterwards', async () => {
  const schema = server.nextSchema();
  const older = processOf(schema, shipped);
  await older.storage.open();
  await serve(older.storage, 'before');

  const newer = processOf(schema, [...shipped, next]);
  let isMigrated = false;
  let served = 0;
  // The older process keeps working: none of its requests fails.
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
  // Each process reads the other's rows, in one gap-free sequence.
  const expected = 1 + served + 20;
  for (const { storage } of [older, newer]) {
    expect(await sequence(storage)).toHaveLength(expected);
  }
  const { rows } = await newer.pool.query(`SELECT note FROM "${schema}".transfers WHERE id = 'tr_after 0'`);
  expect(rows).toEqual([{ note: null }]);
});
