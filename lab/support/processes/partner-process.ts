// A host with the partner API on a SQLite file, as a process of its own, without a worker. Started by `startPartnerProcess`, never imported.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';

const storage = sqliteStorage({ file: process.env.DATABASE_FILE ?? '' });

/** Ends as `kill -9` would, when a transfer is on the disk and before anybody is told. */
const dying: Storage = {
  ...storage,
  transfers: {
    ...storage.transfers,
    async create(creation) {
      await storage.transfers.create(creation);
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    },
  },
};

const ostiary = await createOstiary({
  authUrl: 'http://localhost:1',
  storage: process.env.DIE_AFTER_COMMIT === '1' ? dying : storage,
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: {
    find: () => null,
    findByKid: (kid) => ({ sub: kid, kid }),
    findByPhone: () => null,
  },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  payments: { execute: async () => ({ status: 'completed' }) },
});

const server = createServer(ostiary.handler);
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.once('disconnect', async () => {
  server.closeAllConnections();
  server.close();
  await ostiary.close();
});
