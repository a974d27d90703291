// A host with a ledger, as a process of its own that can be killed. Started by `KilledProcess`, never imported.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, silentLogger } from '@ostiary/core';
import { openDatabase } from '../../../examples/reference-server/src/database/database.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';

const { DATABASE_FILE: file = '', SEALING_KEY: sealingKey = '', CLOCK_OFFSET_MS: offset = '0' } = process.env;

// Each start lives later than the one before, so that a lease which a killed process held is over.
const now = () => Date.now() + Number(offset);

const database = await openDatabase(file);
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

const server = createServer(ostiary.handler);
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit(0));
