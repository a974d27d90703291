// A host on a SQLite file, as a process of its own, without a worker, that ends as `kill -9` would next to a commit.
// Started by `runOutboxProcess` of host.ts, never imported.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';

const { DATABASE_FILE: file = '', SEALING_KEY = '', PARTNER: partner = '', TRANSFER = '' } = process.env;
const isBeforeCommit = process.env.KILL === 'before the commit';

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still alive');
}

const storage = sqliteStorage({ file });

/** Ends when the settlement is on the disk, and before anybody is told. */
const dying: Storage = {
  ...storage,
  transfers: {
    ...storage.transfers,
    async settle(settlement) {
      await storage.transfers.settle(settlement);
      return die();
    },
  },
};

const ostiary = await createOstiary({
  authUrl: 'http://localhost:1',
  storage: dying,
  sealingKeys: [SEALING_KEY],
  users: { find: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  events: {
    'order.shipped': {
      schema: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
      example: {},
    },
  },
});

if (TRANSFER !== '') await ostiary.payments.settle(TRANSFER, { status: 'completed' });

const { connection } = await openSqlite(file);
connection.exec('BEGIN IMMEDIATE');
connection.prepare('INSERT INTO orders (id) VALUES (?)').run('o-1');
const event = { partner, type: 'order.shipped', data: { orderId: 'o-1' } };
void ostiary.events.publish(event, { transaction: connection });
if (isBeforeCommit) die();
connection.exec('COMMIT');
die();
