// A host with a ledger, as a process of its own that can be killed. Started by `KilledProcess`, never imported.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, silentLogger } from '@ostiary/core';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';
import { serveForked } from '../../support/processes/served.ts';

const { DATABASE_FILE: file = '', SEALING_KEY: sealingKey = '', CLOCK_OFFSET_MS: offset = '0' } = process.env;

// Each start lives later than the one before, so that a lease which a killed process held is over.
const now = () => Date.now() + Number(offset);

const database = await openSqlite(file);
const unreachable = { requests: 1_000_000, windowSeconds: 1 };
const ostiary = await createOstiary({
  authUrl: 'http://localhost:1',
  storage: sqliteStorage({ file }),
  sealingKeys: [sealingKey],
  users: createDirectory(database, now),
  login: { authenticate: () => null, loginUrl: () => '/login' },
  payments: createLedger(database, now).rail,
  partnerLimits: { payments: unreachable, other: unreachable },
  clock: { now },
  logger: silentLogger,
});
ostiary.worker.start();
await serveForked(ostiary, 'at once');
