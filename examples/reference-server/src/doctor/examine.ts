import { existsSync } from 'node:fs';
import { ConfigError, type ServerConfig } from '../config.ts';
import { sharedClock } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { forOperators, openDatabases } from '../database/open.ts';
import { listNodes, silentAfterMs } from '../operations/nodes.ts';
import { checkAddress } from './address.ts';
import { checkClock } from './clock.ts';
import { checkAtomicity, checkDatabase } from './database.ts';
import { checkEgress } from './egress.ts';
import type { Examined } from './examined.ts';
import { checkFiles } from './files.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkKeys, checkNodes, checkSettings } from './nodes.ts';
import { checkProxies } from './proxies.ts';
import { checkSeals } from './seals.ts';
import { checkCookies, checkTls } from './transport.ts';
import { checkRetention, checkWork, checkWorkers } from './work.ts';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error');

type Check = (examined: Examined) => Promise<readonly Finding[]>;

/** Every check, in the order in which one would mend. */
const checks = (egress: string | null): Readonly<Record<string, Check>> => ({
  settings: checkSettings,
  address: checkAddress,
  tls: checkTls,
  cookies: checkCookies,
  proxies: checkProxies,
  clock: checkClock,
  processes: checkNodes,
  'sealing keys': checkKeys,
  secrets: checkSeals,
  database: checkDatabase,
  atomicity: checkAtomicity,
  files: checkFiles,
  workers: checkWorkers,
  work: checkWork,
  retention: checkRetention,
  egress: (examined) => checkEgress(examined, egress),
});

async function open(config: ServerConfig): Promise<Database> {
  // Opening a file that is not there would make it.
  if (config.databaseUrl === null && !existsSync(config.databaseFile))
    throw new ConfigError('there is no database in OSTIARY_DATA_DIR');
  const { database } = await openDatabases(config);
  try {
    // What is not there now is what the doctor was asked for, so nothing is waited for.
    await database.ping();
  } catch (error) {
    await database.close();
    throw forOperators(error, config);
  }
  return database;
}

async function tried(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [
      findingsOf(check).problem(
        `cannot be looked at (${messageOf(error)})`,
        'The doctor and the servers may be of different versions, or the database is away.',
        'Run the doctor of the version that runs, with the environment that it runs with.',
      ),
    ];
  }
}

/**
 * Looks at an installation from outside, as browsers and partners do, and from inside its database, while it runs. Nothing
 * is changed but one scratch row, which is removed.
 */
export async function examine(
  config: ServerConfig,
  { egress = null }: { readonly egress?: string | null } = {},
): Promise<readonly Finding[]> {
  let database: Database;
  try {
    database = await open(config);
  } catch (error) {
    const { problem } = findingsOf('database');
    return [
      problem(
        messageOf(error),
        'Nothing works without it.',
        'Mend it, and run the doctor again for the rest.',
      ),
    ];
  }
  try {
    const clock = await sharedClock(database);
    try {
      const all = await listNodes(database);
      const isAlive = ({ seenAt }: { seenAt: number }): boolean => seenAt > clock.now() - silentAfterMs;
      const examined: Examined = {
        config,
        database,
        now: clock.now,
        nodes: all.filter(isAlive),
        silent: all.filter((node) => !isAlive(node)),
      };
      const found: Finding[] = [];
      for (const [name, check] of Object.entries(checks(egress)))
        found.push(...(await tried(name, () => check(examined))));
      return found;
    } finally {
      clock.stop();
    }
  } catch (error) {
    return await tried('database', () => Promise.reject(error));
  } finally {
    await database.close();
  }
}
