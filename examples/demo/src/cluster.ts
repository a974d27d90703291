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
import type { Cluster } from './cluster/cluster-parts.ts';
import { openFront } from './cluster/front.ts';
import { walkThroughIdentity } from './cluster/identity.ts';
import { walkThroughPartner } from './cluster/partner.ts';
import { startPostgres } from './cluster/postgres.ts';
import { createResults, endWith, type Results } from './cluster/results.ts';
import { childEnvironment, serverProcess } from './cluster/server-process.ts';
import type { DemoFile } from './demo-file.ts';
import { freePorts } from './free-ports.ts';
import { seedInstallation } from './seed.ts';
import { openReceiver, type Receiver } from './walkthrough/receiver.ts';
import { createReport, StepFailed } from './walkthrough/report.ts';

process.umask(0o077);

const prefix = 'svc';
const began = performance.now();

function say(line: string): void {
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`${seconds.padStart(5)} s  ${line}\n`);
}

/** Every payment is sent twice, and a key may send 120 a minute. */
function paymentsWanted(argv: readonly string[]): number {
  const usage = 'the only argument is --payments <3 to 50>, as in: npm run demo:cluster -- --payments 20';
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { payments: { type: 'string' } },
      strict: true,
    });
    const count = Number(values.payments ?? 40);
    if (Number.isInteger(count) && count >= 3 && count <= 50) return count;
  } catch {
    // Said below.
  }
  throw new ConfigError(usage);
}

/** Users, clients, a partner with keys and funds: what an administrator makes, in this process. */
async function provision(env: Readonly<Record<string, string>>, authUrl: string): Promise<DemoFile> {
  const installation = await openInstallation(loadConfig(childEnvironment(env)), createLogger('silent'));
  try {
    const seeded = await seedInstallation(installation, null, { prefix, partnerUrl: 'http://localhost:1' });
    return { authUrl, baseUrl: authUrl, prefix, ...seeded, webhooks: [] };
  } finally {
    await installation.close();
  }
}

/** What has to be taken down again, the last one first. */
type Cleanup = (() => Promise<unknown>)[];

async function run(folder: string, count: number, results: Results, cleanup: Cleanup): Promise<void> {
  const [databasePort = 0, frontPort = 0, ...ports] = await freePorts(6);
  const authUrl = `http://localhost:${frontPort}`;
  const postgres = await startPostgres(folder, {
    port: databasePort,
    password: randomBytes(16).toString('hex'),
  });
  cleanup.push(() => postgres.stop());
  say('a PostgreSQL from npm runs');

  const env = {
    DATABASE_URL: postgres.url(),
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
    // Behind the front, whose address is this machine's.
    OSTIARY_TRUSTED_PROXIES: '127.0.0.1',
    OSTIARY_LOG_LEVEL: 'fatal',
  };
  const [webs, workers] = (['web', 'worker'] as const).map((role, at) =>
    ['A', 'B'].map((letter, index) =>
      serverProcess(`${role} ${letter}`, ports[2 * at + index] ?? 0, { ...env, OSTIARY_ROLE: role }),
    ),
  );
  if (webs === undefined || workers === undefined) throw new Error('there are two roles');
  const processes = [...webs, ...workers];
  cleanup.push(() => Promise.all(processes.map((child) => child.kill())));
  // All at once on an empty database: one of them creates the tables, the others wait for it.
  await Promise.all(processes.map((child) => child.start()));
  say(`${processes.map(({ name }) => name).join(', ')} are ready`);

  const front = await openFront(frontPort, webs);
  cleanup.push(() => front.close());
  const secret = randomBytes(32).toString('base64url');
  const receiver: Receiver = await openReceiver(prefix, { '/live': secret });
  cleanup.push(() => receiver.close());
  const file = await provision(env, authUrl);
  const report = createReport(() => undefined);
  const cluster: Cluster = {
    ...{ file, front, webs, workers, receiver, report, env },
    databaseUrl: postgres.url(),
  };

  say('a user signs in and approves an app');
  await walkThroughIdentity(cluster, results);
  say(`a partner sends ${count} payments`);
  await walkThroughPartner(cluster, { count, secret, say }, results);

  say('SIGTERM to all');
  const codes = await Promise.all(processes.map((child) => child.stop()));
  results.add(
    'exit codes after SIGTERM',
    codes.join(', '),
    codes.every((code) => code === 0),
  );
}

async function main(): Promise<void> {
  const count = paymentsWanted(process.argv.slice(2));
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-cluster-'));
  const cleanup: Cleanup = [() => rm(folder, { recursive: true, force: true })];
  const results = createResults();
  const tidyUp = async (): Promise<void> => {
    for (let undo = cleanup.pop(); undo !== undefined; undo = cleanup.pop()) await undo();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void tidyUp().finally(() => process.exit(1)));
  try {
    await run(folder, count, results, cleanup);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    results.add('the demo went to its end', error.message, false);
  } finally {
    await tidyUp();
  }
  say('everything is stopped');
  endWith(results);
}

await main().catch(failToStart);
