import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type DoctorDatabase,
  type Examined,
  keyIdOf,
  type NodeFacts,
  type ServerNode,
} from '@ostiary/cli/doctor';
import type { Logger } from '@ostiary/core';
import type { ServerConfig } from '../config.ts';
import type { Database, Values } from '../database/database.ts';
import { countStaffSecrets } from '../staff/secrets.ts';
import { version } from '../version.ts';

/** Time between two heartbeats that a server process writes, in milliseconds. */
const beatEveryMs = 30_000;
/** Time without a heartbeat after which a process counts as stopped, in milliseconds. */
const silentAfterMs = 3 * beatEveryMs;
/** Time for which stopped processes stay listed, in milliseconds. */
const forgottenAfterMs = 24 * 3_600_000;

const insert = `
  INSERT INTO app_nodes (id, role, facts, started_at, seen_at) VALUES (:id, :role, :facts, :startedAt, :seenAt)
  ON CONFLICT (id) DO UPDATE SET facts = excluded.facts, seen_at = excluded.seen_at`;
const win = "UPDATE app_nodes SET role = 'won' WHERE id = :id AND role = 'scratch'";
const remove = 'DELETE FROM app_nodes WHERE id = :id';

/** Lists the registered processes: those that run, and stopped ones that no heartbeat has removed yet. */
async function listNodes(database: Database): Promise<readonly (ServerNode & { readonly seenAt: number })[]> {
  const rows = await database.all<{ role: ServerConfig['role']; facts: string; seenAt: number }>(
    `SELECT role, facts, seen_at AS "seenAt" FROM app_nodes
     WHERE role IN ('all', 'web', 'worker') ORDER BY started_at, id`,
  );
  return rows.map(({ facts, ...row }) => ({ ...row, facts: JSON.parse(facts) }));
}

/** Lets several writers update one test row at once, and returns how many succeeded. */
async function race(database: Database, at: number): Promise<number> {
  const id = `doctor_${randomBytes(9).toString('hex')}`;
  const write = (sql: string, values: Values): Promise<number> =>
    database.write((transaction) => transaction.run(sql, values));
  await write(insert, { id, role: 'scratch', facts: '{}', startedAt: at, seenAt: at });
  try {
    const changed = await Promise.all(Array.from({ length: 8 }, () => write(win, { id })));
    return changed.filter((rows) => rows === 1).length;
  } finally {
    await write(remove, { id });
  }
}

/** Wraps the database for the doctor and the metrics. */
export const readableBy = (database: Database): Pick<DoctorDatabase, 'engine' | 'query'> => ({
  engine: database.schema === null ? 'sqlite' : 'postgres',
  query: (sql) => database.all(sql),
});

/** Returns the data that the doctor examines, from an open database. */
export async function examinedOf(
  config: ServerConfig,
  database: Database,
  now: () => number,
): Promise<Examined> {
  const all = await listNodes(database);
  // A process may be seen "in the future" if the clock has gone back.
  const isAlive = ({ seenAt }: { readonly seenAt: number }): boolean =>
    Math.abs(now() - seenAt) < silentAfterMs;
  return {
    settings: {
      ...config,
      retentionDays: config.webhooks.retentionDays,
      databaseFile: config.databaseUrl === null ? config.databaseFile : null,
      signInPath: '/login',
    },
    database: { ...readableBy(database), race: () => race(database, now()) },
    countHostSecrets: () => countStaffSecrets(database, config.sealingKeys),
    now,
    nodes: all.filter(isAlive),
    silent: all.filter((node) => !isAlive(node)),
  };
}

/**
 * Registers this process, now and every half minute, for the doctor. A server works without this
 * registration, so failures are only logged.
 */
export async function startPresence(
  config: ServerConfig,
  database: Database,
  now: () => number,
  logger: Logger,
): Promise<{ readonly id: string; end(): Promise<void> }> {
  const id = `node_${randomBytes(9).toString('hex')}`;
  const startedAt = now();

  const facts = (): NodeFacts => ({
    name: `${hostname()}:${process.pid}`,
    version,
    mode: config.mode,
    authUrl: config.authUrl,
    baseUrl: config.baseUrl,
    prefix: config.prefix,
    trustedProxies: [...config.trustedProxies],
    privateTargets: config.webhooks.allowPrivateTargets,
    keyIds: config.sealingKeys.map(keyIdOf),
    clockAheadMs: Math.round(Date.now() - now()),
    databasePool: config.databasePool,
  });

  async function beat(): Promise<void> {
    const seenAt = now();
    try {
      await database.write(async (transaction) => {
        const values = { id, role: config.role, facts: JSON.stringify(facts()), startedAt, seenAt };
        await transaction.run(insert, values);
        const before = seenAt - forgottenAfterMs;
        await transaction.run('DELETE FROM app_nodes WHERE seen_at < :before', { before });
      });
    } catch (error) {
      logger.warn({ err: error }, 'this process cannot be written down as running');
    }
  }

  let beating = beat();
  await beating;
  const timer = setInterval(() => {
    beating = beat();
  }, beatEveryMs);
  timer.unref();
  return {
    id,
    /** Removes the row that registers this process. */
    async end() {
      clearInterval(timer);
      await beating;
      await database
        .write((transaction) => transaction.run(remove, { id }))
        .catch((error: unknown) => logger.warn({ err: error }, 'this process stays written down as running'));
    },
  };
}
