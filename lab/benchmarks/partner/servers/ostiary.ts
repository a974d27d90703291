import { sandboxConsole } from '@ostiary/console';
import { users } from '../../../support/measure/directory.ts';
import { openHost } from '../../../support/measure/host.ts';
import { resident, serve, settings } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { partner } from '../fixture.ts';

/** Keys, passports and users that the load on Ostiary needs. */
export interface Provisioned {
  readonly key: string;
  /** API keys of one partner, {@link key} included. */
  readonly keys: readonly string[];
  /** Passports, one for each of the first users. */
  readonly passports: readonly string[];
}

/**
 * Optional features that run beside the partner API. The benchmark measures how much they slow the API down.
 */
export interface Beside {
  /** True to enable the sandbox console. */
  readonly withConsole: boolean;
  /** True to log all API requests. The default of the reference server logs requests of test keys only. */
  readonly withLog: boolean;
}

const { withConsole, withLog } = settings<Beside>();
const [passportCount, keyCount] = [100, 100];

// Limits so high that every request is counted, and none is refused.
const unreachable = { requests: 1_000_000, windowSeconds: 1 };
const { ostiary, storage, port } = await openHost({
  payments: { execute: async () => ({ status: 'completed' }) },
  ...(withConsole ? { console: sandboxConsole() } : {}),
  requestLog: withLog ? 'all' : withConsole ? 'test' : 'off',
  partnerLimits: {
    verify: unreachable,
    payments: unreachable,
    users: unreachable,
    reconciliation: unreachable,
  },
});
ostiary.worker.start();

async function prepare(): Promise<Provisioned> {
  await ostiary.admin.partners.create({ slug: partner, name: 'Benchmark' });
  const keys = await eachOf(Array.from({ length: keyCount }), 1, async () => {
    const { key } = await ostiary.admin.apiKeys.issue({
      partner,
      mode: 'live',
      scopes: ['identity:verify', 'payments:write', 'users:read', 'reconciliation:read'],
    });
    return key;
  });
  // Add a consent for every user, so that a look-up returns all fields.
  const { client } = await ostiary.admin.clients.create({
    name: 'Benchmark',
    redirectUris: ['https://app.example/callback'],
    allowedScopes: ['openid', 'kyc'],
    partner,
  });
  const now = Date.now();
  const { clientId } = client;
  await eachOf(users, 64, ({ sub }) => storage.consents.remember({ sub, clientId, scopes: ['kyc'], now }));
  const passports = await eachOf(
    users.slice(0, passportCount),
    64,
    async ({ sub }) => (await ostiary.passports.issue(sub)).token,
  );
  return { key: keys[0] ?? '', keys, passports };
}

/** Returns the maximum resident memory of the Ostiary process so far, in bytes. */
const peak = () => process.resourceUsage().maxRSS * 1024;

await serve(ostiary.handler, { prepare, resident, peak }, port);
