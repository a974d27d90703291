import { randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { RemoteClient } from '../browser/remote-flow.ts';
import { registerEndpoint, serving } from '../http.ts';
import { startNetwork } from '../network.ts';
import { type ProofServer, type ServerOptions, startServer } from '../postgres/postgres-server.ts';
import { until } from '../proof.ts';
import { railTables } from '../rail.ts';
import { type Misbehaviour, Receiver } from '../receiver.ts';
import { retry } from '../retry.ts';
import { Cluster } from './cluster.ts';
import { eventType, options, partner, secret, type Time } from './cluster-options.ts';

/** Options for the environment of a proof: its processes, receiver and PostgreSQL server. */
interface StageOptions extends ServerOptions {
  readonly webs: number;
  readonly workers: number;
  /**
   * Number of the partner's endpoints in live mode, and as many in test mode. Every endpoint gets all events
   * of its mode for completed payments, tests and {@link eventType}.
   */
  readonly endpoints: number;
  /** Speed of time in all processes, relative to real time. @defaultValue 1 */
  readonly speed?: number;
  /** True if workers start together with their processes. @defaultValue `true` */
  readonly isWorking?: boolean;
  /** @defaultValue `'accepting'` */
  readonly receiver?: Misbehaviour;
  /** Function that is called with the PostgreSQL server before the first use of the server. */
  readonly prepare?: (server: ProofServer) => Promise<void>;
}

/**
 * Everything that a proof works with: a database, processes on the database, an administrator, a receiver.
 */
export type Stage = Awaited<ReturnType<typeof setStage>>;

const scopes = ['identity:verify', 'payments:write', 'payments:read', 'users:read', 'webhooks'] as const;

/** Registers webhook endpoints through the API, which this process serves for that time. */
function register(ostiary: Ostiary, key: string, urls: readonly string[]): Promise<void> {
  const events = ['payment.completed', 'webhook.test', eventType];
  return serving(ostiary.handler, async (origin) => {
    for (const url of urls)
      await retry(() => registerEndpoint(origin, key, { url, events, secret }, { 'idempotency-key': url }));
  });
}

/** Sets up the environment of a proof with a new database. */
export async function setStage(ends: AsyncDisposableStack, wanted: StageOptions) {
  const server = await startServer(wanted);
  ends.defer(() => server.remove());
  await wanted.prepare?.(server);
  // Network between the processes and the database.
  const network = await startNetwork(server.port);
  ends.defer(() => network.close());
  return { ...(await stageOn(ends, server, wanted, server.url('app', network.port))), network };
}

/** Parts of a database server that a proof uses. */
type StageServer = Pick<ProofServer, 'app' | 'rail'> & { url(database: 'app' | 'rail'): string };

/**
 * Sets up the stage of a proof on an existing database.
 * @param databaseUrl - URL of the database for the processes
 * @param workerUrl - URL of the database for workers, if their way to the database is another one
 */
export async function stageOn<Server extends StageServer>(
  ends: AsyncDisposableStack,
  server: Server,
  wanted: Omit<StageOptions, 'prepare'>,
  databaseUrl: string,
  workerUrl = databaseUrl,
) {
  await server.rail.query(railTables);
  const receiver = new Receiver(wanted.receiver);
  const origin = await receiver.listen();
  ends.defer(() => receiver.close());
  const sealingKey = randomBytes(32).toString('base64url');
  const time: Time = { speed: wanted.speed ?? 1, origin: Date.now() };
  // The administrator has a separate connection to the database, and no worker.
  const { ostiary, storage } = await retry(async () => {
    const opened = postgresStorage({ connectionString: server.url('app') });
    return { storage: opened, ostiary: await createOstiary(options(opened, { sealingKey, time })) };
  });
  ends.defer(() => ostiary.close());
  await retry(() => ostiary.admin.partners.create({ slug: partner, name: 'Acme' }));
  const keyOf = async (mode: 'live' | 'test') => {
    const { key } = await retry(() => ostiary.admin.apiKeys.issue({ partner, mode, scopes: [...scopes] }));
    const paths = Array.from({ length: wanted.endpoints }, (_, index) => `${origin}/${mode}/${index}`);
    await register(ostiary, key, paths);
    return key;
  };
  const keys = { live: await keyOf('live'), test: await keyOf('test') };
  const redirectUri = 'https://app.example/callback';
  const { client, clientSecret } = await retry(() =>
    ostiary.admin.clients.create({
      name: 'App',
      redirectUris: [redirectUri],
      allowedScopes: ['openid', 'offline_access'],
    }),
  );
  const cluster = new Cluster(wanted, {
    databaseUrls: { web: databaseUrl, worker: workerUrl },
    railUrl: server.url('rail'),
    ...{ sealingKey, time, isWorking: wanted.isWorking ?? true },
  });
  ends.defer(() => cluster.stop());
  await cluster.started();
  return {
    ...{ server, cluster, receiver, time, ostiary, storage, keys },
    client: { id: client.clientId, secret: clientSecret ?? '', redirectUri } satisfies RemoteClient,
  };
}

/** Waits until workers have done all due work. @returns true if all work was done in time */
export function drained({ server }: { readonly server: Pick<ProofServer, 'app'> }): Promise<boolean> {
  return until(
    async () => {
      const { rows } = await server.app.query(`
        SELECT FROM ostiary.transfers WHERE status = 'pending'
        UNION ALL SELECT FROM ostiary.pending_deliveries
        UNION ALL SELECT FROM ostiary.jobs WHERE id <> 'purge' LIMIT 1
      `);
      return rows.length === 0;
    },
    // Long time limit, so that it does not matter if the machine stalls.
    { everyMs: 20, withinMs: 180_000 },
  );
}

/**
 * Publishes events of the host application concurrently. If publishing an event fails, or its outcome is
 * unknown, the event is published again.
 */
export function publish(ostiary: Ostiary, count: number): Promise<readonly { readonly id: string }[]> {
  return Promise.all(
    Array.from({ length: count }, (_, number) =>
      retry(() => ostiary.events.publish({ partner, type: eventType, data: { number } })),
    ),
  );
}
