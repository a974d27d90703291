// A host with Ostiary on a SQLite file, as a process of its own. Started by `startHost`, never imported.
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Logger } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { options } from './cluster-options.ts';
import type { HostSettings } from './host.ts';
import { serveForked } from './served.ts';

const settings: HostSettings = JSON.parse(process.env.SETTINGS ?? '{}');

/** Prints everything that it is given, as a careless host would. */
const print =
  (level: string) =>
  (fields: object, message: string): void =>
    console.log(level, message, inspect(fields, { depth: 20, maxArrayLength: null, showHidden: true }));
const logger: Logger = {
  debug: print('debug'),
  info: print('info'),
  warn: print('warn'),
  error: print('error'),
};

const storage = sqliteStorage({ file: settings.file });

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

const { partnerLimits: _, ...rest } = options(settings.diesAfterCommit === true ? dying : storage, {
  sealingKey: settings.sealingKey,
  time: { speed: 1, origin: 0 },
  rail: { execute: async () => ({ status: 'completed' }) },
});
const ostiary = await createOstiary({ ...rest, authUrl: settings.authUrl, logger });
if (settings.isWorking) ostiary.worker.start();
await serveForked(ostiary, 'in order');
