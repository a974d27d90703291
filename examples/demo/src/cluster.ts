import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ConfigError,
  createLogger,
  failToStart,
  loadConfig,
  openInstallation,
} from '@ostiary/reference-server';
import { openFront } from './cluster/front.ts';
import { walkThroughIdentity } from './cluster/identity.ts';
import { walkThroughPartner } from './cluster/partner.ts';
import { startPostgres } from './cluster/postgres.ts';
import { Results } from './cluster/results.ts';
import { childEnvironment, serverProcess } from './cluster/server-process.ts';
import type { DemoFile } from './demo-file.ts';
import { freePorts } from './free-ports.ts';
import { provision } from './seed.ts';
import { openReceiver } from './walkthrough/receiver.ts';
import { createReport, StepFailed } from './walkthrough/report.ts';

process.umask(0o077);

const prefix = 'svc';
const began = performance.now();
const newSecret = (): string => randomBytes(32).toString('base64url');

function say(line: string): void {
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`${seconds.padStart(5)} s  ${line}\n`);
}

/** Every payment is sent twice, and a key may send 120 a minute. */
function paymentsWanted(args: string[]): number {
  try {
    const { values } = parseArgs({ args, options: { payments: { type: 'string' } }, strict: true });
    const count = Number(values.payments ?? 40);
    if (Number.isInteger(count) && count >= 3 && count <= 50) return count;
  } catch {
    // Said below.
  }
  throw new ConfigError(
    'the only argument is --payments <3 to 50>, as in: npm run demo:cluster -- --payments 20',
  );
}

/** Users, clients, a partner with keys and funds: what an administrator makes, in this process. */
async function prepare(env: Readonly<Record<string, string>>, authUrl: string): Promise<DemoFile> {
  const installation = await openInstallation(loadConfig(childEnvironment(env)), createLogger('silent'));
  try {
    const seeded = await provision(installation, 'http://localhost:1');
    return { authUrl, baseUrl: authUrl, prefix, ...seeded, webhooks: [] };
  } finally {
    await installation.close();
  }
}

async function run(folder: string, count: number, results: Results, cleanup: AsyncDisposableStack) {
  const [databasePort = 0, frontPort = 0, ...ports] = await freePorts(6);
  const authUrl = `http://localhost:${frontPort}`;
  const postgres = await startPostgres(folder, { port: databasePort, password: newSecret() });
  cleanup.defer(() => postgres.stop());
  say('a PostgreSQL from npm runs');

  const env = {
    DATABASE_URL: postgres.url(),
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: newSecret(),
    // Behind the front, whose address is this machine's.
    OSTIARY_TRUSTED_PROXIES: '127.0.0.1',
    OSTIARY_LOG_LEVEL: 'fatal',
  };
  const processes = ['web A', 'web B', 'worker A', 'worker B'].map((name, at) =>
    serverProcess(name, ports[at] ?? 0, { ...env, OSTIARY_ROLE: name.split(' ', 1)[0] ?? '' }),
  );
  const [webs, workers] = [processes.slice(0, 2), processes.slice(2)];
  cleanup.defer(async () => void (await Promise.all(processes.map((child) => child.kill()))));
  // All at once on an empty database: one of them creates the tables, the others wait for it.
  await Promise.all(processes.map((child) => child.start()));
  say(`${processes.map(({ name }) => name).join(', ')} are ready`);

  const front = await openFront(frontPort, webs);
  cleanup.defer(() => front.close());
  const secret = newSecret();
  const receiver = await openReceiver(prefix, { '/live': secret });
  cleanup.defer(() => receiver.close());
  const file = await prepare(env, authUrl);
  const report = createReport(() => undefined);
  const databaseUrl = postgres.url();
  const cluster = { file, front, webs, workers, receiver, report, results, env, databaseUrl, say };

  say('a user signs in and approves an app');
  await walkThroughIdentity(cluster);
  say(`a partner sends ${count} payments`);
  await walkThroughPartner(cluster, count, secret);

  say('SIGTERM to all');
  const codes = await Promise.all(processes.map((child) => child.stop()));
  results.all('exit codes after SIGTERM', codes, 0);
}

async function main(): Promise<void> {
  const count = paymentsWanted(process.argv.slice(2));
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-cluster-'));
  const cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const results = new Results();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)));
  try {
    await run(folder, count, results, cleanup);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    results.add('the demo went to its end', error.message, false);
  } finally {
    await cleanup.disposeAsync();
  }
  say('everything is stopped');
  results.end();
}

await main().catch(failToStart);
