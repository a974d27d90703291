import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ServerConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { version } from '../version.ts';
import { keyIdOf } from './key-proofs.ts';

/** How often a process says that it is there, in milliseconds. */
export const beatEveryMs = 30_000;
/** Who has not been heard of for so long is gone, in milliseconds. */
export const silentAfterMs = 3 * beatEveryMs;
/** How long that is remembered. */
const forgottenAfterMs = 24 * 3_600_000;

const factsSchema = z.object({
  /** Host name and process id. */
  name: z.string(),
  version: z.string(),
  mode: z.string(),
  authUrl: z.string(),
  baseUrl: z.string(),
  prefix: z.string(),
  trustedProxies: z.array(z.string()),
  privateTargets: z.boolean(),
  /** Names of its sealing keys, the current one first. */
  keyIds: z.array(z.string()),
  /** What its machine is ahead of the clock that it goes by. */
  clockAheadMs: z.number(),
  databasePool: z.number(),
});

/** What a process says of itself. Nothing of it is secret. */
export type NodeFacts = z.output<typeof factsSchema>;

/** A process of this installation. */
export interface ServerNode {
  readonly id: string;
  readonly role: ServerConfig['role'];
  readonly facts: NodeFacts;
  readonly startedAt: number;
  readonly seenAt: number;
}

interface Row {
  readonly id: string;
  readonly role: ServerConfig['role'];
  readonly facts: string;
  readonly started_at: number;
  readonly seen_at: number;
}

/** Every process that was there within the last day. */
export async function listNodes(database: Database): Promise<readonly ServerNode[]> {
  const rows = await database.all<Row>(
    `SELECT id, role, facts, started_at, seen_at FROM app_nodes
     WHERE role IN ('all', 'web', 'worker') ORDER BY started_at, id`,
  );
  return rows.map((row) => ({
    id: row.id,
    role: row.role,
    facts: factsSchema.parse(JSON.parse(row.facts)),
    startedAt: row.started_at,
    seenAt: row.seen_at,
  }));
}

/** A process that says, as long as it runs, that it is there. */
export interface Presence {
  readonly id: string;
  /** Says that it is gone. */
  end(): Promise<void>;
}

/**
 * Writes down that this process is there, now and every half minute, for those who look after the installation. A server
 * serves without it too, so failures are only logged.
 */
export async function startPresence(
  config: ServerConfig,
  database: Database,
  now: () => number,
  logger: Logger,
): Promise<Presence> {
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
        await transaction.run(
          `INSERT INTO app_nodes (id, role, facts, started_at, seen_at)
           VALUES (:id, :role, :facts, :startedAt, :seenAt)
           ON CONFLICT (id) DO UPDATE SET facts = excluded.facts, seen_at = excluded.seen_at`,
          { id, role: config.role, facts: JSON.stringify(facts()), startedAt, seenAt },
        );
        await transaction.run('DELETE FROM app_nodes WHERE seen_at < :before', {
          before: seenAt - forgottenAfterMs,
        });
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
    async end() {
      clearInterval(timer);
      await beating;
      await database
        .write((transaction) => transaction.run('DELETE FROM app_nodes WHERE id = :id', { id }))
        .catch((error: unknown) => logger.warn({ err: error }, 'this process stays written down as running'));
    },
  };
}
