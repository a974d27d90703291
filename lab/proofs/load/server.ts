// A web process or a worker of the reference server's parts, with limits that no load reaches. Started by `setScene`, never imported.
import { createOstiary } from '@ostiary/core';
import { loadConfig } from '../../../examples/reference-server/src/config.ts';
import { openDatabases } from '../../../examples/reference-server/src/database/open.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createDirectory } from '../../../examples/reference-server/src/users/directory.ts';
import { serve, settings } from '../../support/measure/control.ts';
import { options } from '../../support/processes/cluster-options.ts';
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
const ostiary = await createOstiary({
  // Limits that are counted as always, in the database, and never reached; and who says who they are is signed in: passwords are not
  // what is measured.
  ...options(storage, { sealingKey, rail: createLedger(database, Date.now).rail }),
  authUrl,
  users: createDirectory(database, Date.now),
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
