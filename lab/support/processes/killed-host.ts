// A host with a ledger on a SQLite file, as a process of its own that can be killed. Started by `openHost`, never imported.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';
import { options } from './cluster-options.ts';
import { serveForked } from './served.ts';

const { DATABASE_FILE: file = '', SEALING_KEY: sealingKey = '', CLOCK_OFFSET_MS: offset = '0' } = process.env;

// Each start lives later than the one before, so that a lease which a killed process held is over.
const now = () => Date.now() + Number(offset);
const database = await openSqlite(file);
const ostiary = await createOstiary({
  ...options(sqliteStorage({ file }), { sealingKey, rail: createLedger(database, now).rail }),
  users: createDirectory(database, now),
  clock: { now },
});
ostiary.worker.start();
await serveForked(ostiary, 'at once');
