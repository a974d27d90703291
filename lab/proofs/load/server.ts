// A web process or a worker of the reference server's parts, with limits that no load reaches. Started by `setScene`, never imported.
import { createOstiary, silentLogger } from '@ostiary/core';
import { loadConfig } from '../../../examples/reference-server/src/config.ts';
import { openDatabases } from '../../../examples/reference-server/src/database/open.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';
import { serve, settings } from '../../support/measure/control.ts';
import { watchLoop } from './loop-health.ts';

/** What the process is started with. */
export interface ServerSettings {
  readonly role: 'web' | 'worker';
  readonly port: number;
  /** Settings of the reference server. */
  readonly env: Readonly<Record<string, string>>;
}

const { role, port, env } = settings<ServerSettings>();
const { OSTIARY_AUTH_URL: authUrl = '', OSTIARY_SEALING_KEYS: sealingKey = '' } = env;
const { database, storage } = await openDatabases(loadConfig({ ...env }));
const unreachable = { requests: 1_000_000, windowSeconds: 1 };
const ostiary = await createOstiary({
  authUrl,
  storage,
  sealingKeys: [sealingKey],
  users: createDirectory(database, Date.now),
  // Passwords are not what is measured: who says who they are is signed in.
  login: {
    authenticate(request) {
      const sub = /(?:^|; )host=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
      return sub === undefined ? null : { sub, authenticatedAt: new Date(Date.now() - 60_000) };
    },
    loginUrl: () => '/login',
  },
  payments: createLedger(database, Date.now).rail,
  // Counted as always, in the database, and never reached.
  limits: { authorizeStarts: 1_000_000, failedClientAuthentications: 1_000_000 },
  partnerLimits: { verify: unreachable, payments: unreachable, other: unreachable },
  webhooks: { allowPrivateTargets: true },
  // Beyond the rate that it bears, a line for each error would be a load of its own.
  logger: silentLogger,
});
if (role === 'worker') ostiary.worker.start();

serve(ostiary.handler, port, {
  health: watchLoop(),
  /** Bytes of resident memory. */
  resident: () => process.memoryUsage.rss(),
  /** Bytes that are alive: of the heap after a full collection. */
  alive() {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  },
});
