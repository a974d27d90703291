import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type OstiaryOptions } from '@ostiary/core';
import { inBatches } from '../../../support/measure/batches.ts';
import { serve, settings } from '../../../support/measure/control.ts';
import { partner, users } from '../fixture.ts';

/** What the load needs. */
export interface Provisioned {
  readonly key: string;
  /** A passport for each of the first users. */
  readonly passports: readonly string[];
}

const passportCount = 100;

const { port, file, database, sealingKey } = settings<{
  readonly port: number;
  /** The SQLite file. */
  readonly file: string;
  /** Where PostgreSQL is; instead of the file unless it is `null`. */
  readonly database: string | null;
  readonly sealingKey: string;
}>();
const storage = database === null ? sqliteStorage({ file }) : postgresStorage({ connectionString: database });
const bySub = new Map(users.map((user) => [user.sub, user]));
const byKid = new Map(users.map((user) => [user.kid, user]));

// Every request is counted, and none is refused.
const unreachable = { requests: 1_000_000, windowSeconds: 1 };
const partnerLimits: NonNullable<OstiaryOptions['partnerLimits']> = {
  verify: unreachable,
  payments: unreachable,
  users: unreachable,
  reconciliation: unreachable,
};

const ostiary = await createOstiary({
  authUrl: `http://127.0.0.1:${port}`,
  storage,
  sealingKeys: [sealingKey],
  users: {
    find: (sub) => bySub.get(sub) ?? null,
    findByKid: (kid) => byKid.get(kid) ?? null,
    findByPhone: () => null,
  },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  payments: { execute: async () => ({ status: 'completed' }) },
  partnerLimits,
});
ostiary.worker.start();

async function prepare(): Promise<Provisioned> {
  await ostiary.admin.partners.create({ slug: partner, name: 'Benchmark' });
  const { key } = await ostiary.admin.apiKeys.issue({
    partner,
    mode: 'live',
    scopes: ['identity:verify', 'payments:write', 'users:read', 'reconciliation:read'],
  });
  // With a consent for every user, so that a lookup shows all there is.
  const { client } = await ostiary.admin.clients.create({
    name: 'Benchmark',
    redirectUris: ['https://app.example/callback'],
    allowedScopes: ['openid', 'kyc'],
    partner,
  });
  const now = Date.now();
  const { clientId } = client;
  await inBatches(users, ({ sub }) => storage.consents.remember({ sub, clientId, scopes: ['kyc'], now }));
  const passports = await inBatches(
    users.slice(0, passportCount),
    async ({ sub }) => (await ostiary.passports.issue(sub)).token,
  );
  return { key, passports };
}

let peak = 0;
let sampling: NodeJS.Timeout | undefined;

serve(ostiary.handler, port, {
  prepare,
  /** Begins to watch resident memory and answers what it is. */
  watchMemory() {
    clearInterval(sampling);
    peak = process.memoryUsage.rss();
    sampling = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 5);
    return peak;
  },
  /** The most that it was since then. */
  peakMemory() {
    clearInterval(sampling);
    return Math.max(peak, process.memoryUsage.rss());
  },
});
