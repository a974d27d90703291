import type { Installation } from '../../../examples/reference-server/src/index.ts';
import { administer, deploy } from '../../support/deployment/deployment.ts';
import { signIn } from '../../support/deployment/load.ts';
import { registerEndpoint } from '../../support/http.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { openBalancer } from '../../support/processes/balancer.ts';
import { secret } from '../../support/processes/cluster-options.ts';
import { until } from '../../support/proof.ts';
import { Receiver } from '../../support/receiver.ts';
import { familyOf, parentOf, processorMs } from './processors.ts';

/** Servers and credentials that all measured operations use. */
export type CostStage = Awaited<ReturnType<typeof setCostStage>>;

const partner = 'kafe-lakay';
const redirectUri = 'https://shop.example/callback';
/** Number of API keys. Each key may verify one passport a second, on average over a minute. */
const keyCount = 100;

async function provision({ ostiary: { admin }, accounts, ledger, sessions }: Installation) {
  await admin.partners.create({ slug: partner, name: 'Kafe Lakay' });
  await ledger.fund(partner, '10000000.00', 'HTG');
  const account = { handle: 'ana', name: 'Ana', phone: '+50937000000', password: 'a password of nobody' };
  const { sub, kid } = await accounts.create(account);
  const { client, clientSecret } = await admin.clients.create({
    ...{ name: 'Kafe Lakay', redirectUris: [redirectUri], partner, allowedScopes: ['openid'] },
  });
  const keysOf = async (mode: 'live' | 'test'): Promise<string[]> => {
    const scopes = ['identity:verify', 'payments:write', 'users:read', 'webhooks'] as const;
    const issue = () => admin.apiKeys.issue({ partner, mode, scopes: [...scopes] });
    return Promise.all(Array.from({ length: keyCount }, async () => (await issue()).key));
  };
  return {
    ...{ account, kid, clientId: client.clientId, clientSecret: clientSecret ?? '' },
    ...{ liveKeys: await keysOf('live'), testKeys: await keysOf('test') },
    ...{ sub, session: await sessions.start(sub, null) },
  };
}

/** Approves the app as the user; Ostiary remembers the consent. */
async function consent(authUrl: string, path: string, account: Parameters<typeof signIn>[1]): Promise<void> {
  const browser = await signIn(authUrl, account);
  const page = await browser.follow(await browser.open(authUrl + path));
  const [form] = page.forms;
  if (form === undefined) throw new Error(`no consent page but ${page.status}`);
  await browser.submit(page, form, { decision: 'approve' });
}

/**
 * Starts the reference server as one web process and one worker, on a PostgreSQL of its own that counts
 * statements.
 */
export async function setCostStage(ends: AsyncDisposableStack) {
  // Switch fsync off: waiting for the disk takes no processor time.
  const settings = ['shared_preload_libraries=pg_stat_statements'];
  const server = await startServer({ fsync: false, settings });
  ends.defer(() => server.remove());
  await server.app.query('CREATE EXTENSION pg_stat_statements');
  const deployment = await deploy(
    ends,
    { webs: 1, workers: 1 },
    { DATABASE_URL: server.url('app') },
    openBalancer,
  );
  const { authUrl, env, webs, workers } = deployment;
  const given = await administer(env, provision);
  const receiver = new Receiver();
  const origin = await receiver.listen();
  ends.defer(() => receiver.close());
  let endpoints = 0;
  /** Registers a webhook endpoint that gets every event of an API key's mode (test or live). */
  async function addEndpoint(key = ''): Promise<void> {
    endpoints += 1;
    await registerEndpoint(authUrl, key, { url: `${origin}/${endpoints}`, events: ['*'], secret });
  }
  for (const [key] of [given.liveKeys, given.testKeys]) await addEndpoint(key);
  const query = {
    response_type: 'code',
    client_id: given.clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
  };
  const authorizePath = `/oauth/authorize?${new URLSearchParams({ ...query, state: 's' })}`;
  await consent(authUrl, authorizePath, given.account);

  const one = async <Value>(sql: string): Promise<Value> => (await server.app.query(sql)).rows[0]?.value;
  const postmaster = parentOf(await one<number>('SELECT pg_backend_pid() AS value'));
  /**
   * Returns the processor time of the process with a role (web or worker), whose process id is in the table
   * `app.nodes`. 0 if no process with the role has started.
   */
  const roleMs = async (role: string): Promise<number> => {
    const facts = await one<string | undefined>(`
      SELECT facts::text AS value FROM app.nodes WHERE role = '${role}' ORDER BY started_at DESC LIMIT 1
    `);
    return facts === undefined ? 0 : processorMs([Number(JSON.parse(facts).name.split(':').at(-1))]);
  };

  return {
    ...{ ...given, authUrl, redirectUri, authorizePath, addEndpoint, worker: workers[0] },
    passport: () => administer(env, async ({ ostiary }) => (await ostiary.passports.issue(given.sub)).token),
    /** Port of the web process itself, without the load balancer. */
    port: Number(new URL(webs[0]?.origin ?? '').port),
    /** Returns the costs so far: processor time in milliseconds, and number of SQL statements. */
    spent: async () => ({
      web: await roleMs('web'),
      worker: await roleMs('worker'),
      database: processorMs(familyOf(postmaster)),
      statements: await one<number>(`
        SELECT coalesce(sum(calls), 0)::integer AS value FROM pg_stat_statements
        WHERE userid = 'ostiary'::regrole AND toplevel
      `),
    }),
    /** Returns the size of a table row in bytes, including the row's share of all indexes. */
    bytesOf: (table: 'events' | 'deliveries' | 'transfers') =>
      one<number>(`
        SELECT pg_total_relation_size('ostiary.${table}') / greatest(count(*), 1) AS value FROM ostiary.${table}
      `),
    /** Waits until the worker has no work left. */
    drained: () =>
      until(
        async () =>
          await one<boolean>(`
            SELECT NOT EXISTS (SELECT FROM ostiary.transfers WHERE status = 'pending')
              AND NOT EXISTS (SELECT FROM ostiary.pending_deliveries) AS value
          `),
        { everyMs: 250 },
      ),
  };
}
