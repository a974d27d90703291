// Runs a host with Ostiary on a SQLite file, as a process. Started by `startHost`, never imported.
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Logger } from '@ostiary/core';
import { close, listen } from '../http.ts';
import { options } from './cluster-options.ts';
import { obey, settings } from './control.ts';
import type { HostSettings } from './host.ts';

const { file, sealingKey } = settings<HostSettings>();

/** A logger that prints all its arguments, as a careless application's logger would. */
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

const { partnerLimits: _, ...rest } = options(sqliteStorage({ file }), {
  sealingKey,
  rail: { execute: async () => ({ status: 'completed' }) },
});
const ostiary = await createOstiary({ ...rest, logger });
ostiary.worker.start();
const server = createServer(ostiary.handler);
obey({}, await listen(server), async () => {
  await close(server);
  await ostiary.close();
});
