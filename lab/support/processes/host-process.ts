// A host with Ostiary on a SQLite file, as a process of its own. Started by `startHost`, never imported.
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Logger } from '@ostiary/core';
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

const { partnerLimits: _, ...rest } = options(sqliteStorage({ file: settings.file }), {
  sealingKey: settings.sealingKey,
  time: { speed: 1, origin: 0 },
  rail: { execute: async () => ({ status: 'completed' }) },
});
const ostiary = await createOstiary({ ...rest, authUrl: settings.authUrl, logger });
ostiary.worker.start();
await serveForked(ostiary, 'in order');
