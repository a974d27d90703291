import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { migrate } from '../../../examples/reference-server/src/database/migrations.ts';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { options } from './cluster-options.ts';
import { KilledProcess } from './killed-process.ts';

/**
 * Difference between the clocks of successive process starts, in milliseconds. The difference is more than a
 * lease, so that the lease of a killed process has expired at the next start.
 */
const clockStepMs = 31_000;

const script = new URL('./killed-host.ts', import.meta.url);

/** A SQLite file with an application's tables, and an Ostiary without a worker for administration. */
export type HostFile = Awaited<ReturnType<typeof openHost>>;

/** Creates the SQLite file of an application. */
export async function openHost(ends: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-proof-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const database = await openSqlite(file);
  ends.defer(() => database.close());
  await migrate(database, Date.now());
  const storage = sqliteStorage({ file });
  const ostiary = await createOstiary(options(storage, { sealingKey }));
  ends.defer(() => ostiary.close());
  return {
    ...{ database, storage, ostiary },
    /**
     * Starts the application's process on the SQLite file, with a web server and a worker. The process can be
     * killed and restarted, each time with a later clock.
     */
    start() {
      const started = new KilledProcess('the host', script, (starts) => ({
        ...{ file, sealingKey },
        clockOffsetMs: starts * clockStepMs,
      }));
      ends.defer(() => started.stop());
      return started;
    },
  };
}
