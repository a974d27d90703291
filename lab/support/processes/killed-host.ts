// Runs a host with a ledger on a SQLite file, as a process that can be killed. Started by `openHost`, never
// imported.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';
import { options } from './cluster-options.ts';
import { serve, settings } from './control.ts';

const { file, sealingKey, clockOffsetMs } = settings<{
  readonly file: string;
  readonly sealingKey: string;
  readonly clockOffsetMs: number;
}>();

const now = () => Date.now() + clockOffsetMs;
const database = await openSqlite(file);
const ostiary = await createOstiary({
  ...options(sqliteStorage({ file }), { sealingKey, rail: createLedger(database, now).rail }),
  users: createDirectory(database, now),
  clock: { now },
});
ostiary.worker.start();
await serve(ostiary.handler);
