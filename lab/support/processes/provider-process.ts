// A host with Ostiary on a SQLite file, as a process of its own. Started by `startProvider`, never imported.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Logger } from '@ostiary/core';

const startedAt = new Date(Date.now() - 60_000);

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

const ostiary = await createOstiary({
  authUrl: process.env.AUTH_URL ?? '',
  storage: sqliteStorage({ file: process.env.DATABASE_FILE ?? '' }),
  sealingKeys: [process.env.SEALING_KEY ?? ''],
  users: {
    find: (sub) => ({
      sub,
      kid: sub,
      role: 'member',
      country: 'HT',
      createdAt: '2024-03-01T12:00:00.000Z',
      name: 'Ana',
    }),
  },
  login: {
    authenticate(request) {
      const sub = /(?:^|; )host=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
      return sub === undefined ? null : { sub, authenticatedAt: startedAt };
    },
    loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
  },
  limits: { authorizeStarts: 1_000_000, failedClientAuthentications: 1_000_000 },
  logger,
});
ostiary.worker.start();

const server = createServer(ostiary.handler);
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.once('disconnect', async () => {
  server.closeAllConnections();
  server.close();
  await ostiary.close();
});
