import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { newSealingKey, populate } from '../../support/deployment/deployment.ts';
import { Load, type Rates } from '../../support/deployment/load.ts';
import { type ProofServer, startServer } from '../../support/postgres/postgres-server.ts';
import { referenceProcess } from '../../support/processes/reference-process.ts';

/** A web process and a worker of the reference server on PostgreSQL, with users, apps and partners. */
export type WatchedStage = Awaited<ReturnType<typeof setWatchedStage>>;

/** Operations per second. The API keys of the population allow six payments and three verifications. */
export const rates: Rates = { userinfo: 20, exchange: 2, verify: 1, payment: 4 };

/**
 * Starts PostgreSQL, a web process and a worker.
 * @param settings - further environment variables of both processes
 * @param prepare - changes the database server before the processes connect, and returns the URL of the database for them
 */
export async function setWatchedStage(
  ends: AsyncDisposableStack,
  settings: Readonly<Record<string, string>>,
  prepare: (server: ProofServer) => Promise<string> = async (server) => server.url('app'),
) {
  const server = await startServer();
  ends.defer(() => server.remove());
  const databaseUrl = await prepare(server);
  const [webPort = 0, workerPort = 0, webMetrics = 0, workerMetrics = 0] = await freePorts(4);
  const authUrl = `http://localhost:${webPort}`;
  const env: Readonly<Record<string, string>> = {
    NODE_ENV: 'development',
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: newSealingKey(),
    DATABASE_URL: databaseUrl,
    // Deliveries are dropped after two failed attempts.
    OSTIARY_WEBHOOK_RETRY_DELAYS: '1',
    ...settings,
  };
  const start = (role: string, port: number, metrics: number) =>
    referenceProcess(role, port, { ...env, OSTIARY_ROLE: role, OSTIARY_METRICS_PORT: String(metrics) });
  const web = start('web', webPort, webMetrics);
  const worker = start('worker', workerPort, workerMetrics);
  for (const one of [web, worker]) ends.defer(async () => void (await one.stop()));
  await web.start();
  await worker.start();
  const { credentials, browser, receiver } = await populate(ends, { authUrl, env });
  const load = new Load(authUrl, credentials, browser);
  ends.defer(() => load.stop());
  return {
    ...{ server, web, worker, load, receiver, credentials, authUrl, env },
    /** Addresses at which the processes serve their metrics. */
    metrics: { web: `127.0.0.1:${webMetrics}`, worker: `127.0.0.1:${workerMetrics}` },
  };
}

export const seconds = (count: number): Promise<void> => delay(count * 1_000);
