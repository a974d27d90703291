import { randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import type { DeliveryResult, DeliveryStore } from '@ostiary/core';
import { escapeLiteral, type Pool } from 'pg';
import { createStolenTime, type QuietTurns, type Turn } from '../../benchmarks/shared/stolen-time.ts';
import { type Ran, watchedPool } from '../../packages/adapter-postgres/test/watched-pool.ts';
import { type ProofServer, startServer } from '../support/postgres-server.ts';
import { percentile } from '../support/table.ts';
import { cpuWait } from './cpu-wait.ts';
import { claimFaults, type PlanRow, stepsOf } from './plan.ts';

/** How a worker asks. */
export interface ClaimReport {
  readonly what: string;
  readonly claims: number;
  readonly deliveries: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
  /** p99 without the time in which this process and its backend waited for others to leave the CPU. */
  readonly p99Undisturbed: number;
  /** How large tables are read. */
  readonly steps: readonly string[];
  readonly problems: readonly string[];
}

const endpoints = 1_000;

/** As PostgreSQL writes it. */
const literalOf = (value: unknown) => (value === null ? 'NULL' : escapeLiteral(String(value)));

/** The plan that PostgreSQL keeps for a statement that is prepared. */
async function planOf(pool: Pool, sent: Ran | undefined): Promise<PlanRow[]> {
  if (sent === undefined) return [];
  const client = await pool.connect();
  try {
    await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE sent AS ${sent.text}`);
    const { rows } = await client.query<PlanRow>(
      `EXPLAIN (FORMAT JSON) EXECUTE sent (${sent.values.map(literalOf).join()})`,
    );
    return rows;
  } finally {
    client.release(true);
  }
}

/** So many deliveries to each event. */
const fanOut = 10;

async function createEndpoints({ app }: ProofServer): Promise<void> {
  await app.query(`
    INSERT INTO ostiary.webhook_endpoints
      SELECT 'we_' || lpad(i::text, 6, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, repeat('s', 80), 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
  `);
}

/**
 * Deliveries of which none was tried: a fifth of them of one endpoint.
 * @param from - how many there were before, a multiple of `fanOut`
 * @param to - how many there are then, one as well
 */
async function publish({ app }: ProofServer, from: number, to: number): Promise<void> {
  await app.query(`
    SET search_path TO ostiary;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'acme', 'live', i, 'kyc.updated', repeat('x', 300), i
      FROM generate_series(${from / fanOut + 1}, ${to / fanOut}) AS i;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT 'dl_' || i, (i + ${fanOut} - 1) / ${fanOut},
        'we_' || lpad((CASE WHEN i % 5 = 0 THEN 500 ELSE 1 + i % ${endpoints} END)::text, 6, '0'),
        'acme', 'live', 'pending', i
      FROM generate_series(${from + 1}, ${to}) AS i;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT id, number, endpoint_id, event_number, created_at FROM deliveries WHERE created_at > ${from};
    RESET search_path;
  `);
  // As autovacuum does in the next minute, which would be that of the claims; and what was filled goes to the disk.
  await app.query('VACUUM (ANALYZE)');
  await app.query('CHECKPOINT');
}

function delivered(claimed: {
  readonly id: string;
  readonly claimId: string;
  readonly attempt: number;
}): DeliveryResult {
  const { id, claimId, attempt: number } = claimed;
  const attempt = { number, at: 9, durationMs: 1, httpStatus: 200, error: null, response: 'ok' };
  return { id, claimId, attempt, next: { status: 'delivered' } };
}

interface Kind extends Pick<Parameters<DeliveryStore['claim']>[0], 'room' | 'slots' | 'limit'> {
  readonly what: string;
}

const busy = new Map(
  Array.from({ length: 20 }, (_, index): [string, number] => [
    `we_${String(491 + index).padStart(6, '0')}`,
    8,
  ]),
);

const kinds: readonly Kind[] = [
  // As a worker that has just started: a few of each endpoint.
  { what: 'of endpoints that nobody knows', room: 2, rooms: new Map(), limit: 256 },
  // As one that has room for more of some endpoints, one of them with a fifth of everything.
  { what: 'of 20 endpoints with room for more', room: 2, slots: busy, limit: 256 },
  // As one in which strangers have all the room that they get.
  { what: 'of known endpoints only', room: 0, slots: busy, limit: 256 },
];

/** Longer than a lease: whatever a run leaves claimed is free in the next one. */
const runMs = 3_600_000;

/** What is asked for. */
export interface ClaimSize {
  readonly waiting: number;
  /** In each run of a kind. */
  readonly claims: number;
  readonly runs: number;
  readonly fsync: boolean;
  /** Repeats what was disturbed. */
  readonly quiet: QuietTurns;
}

/**
 * Claims what waits, as workers do, with the result of each claim written before the next one. As many deliveries as are
 * asked for wait when a run begins.
 */
export async function timeClaims({ waiting, claims, runs, fsync, quiet }: ClaimSize): Promise<ClaimReport[]> {
  const server = await startServer({ fsync });
  const watched = watchedPool(server.url('app'));
  const storage = postgresStorage({ pool: watched.pool });
  let published = 0;
  let begun = 0;

  async function topUp(): Promise<void> {
    const { rows } = await server.app.query<{ count: number }>(
      'SELECT count(*)::integer FROM ostiary.pending_deliveries',
    );
    const missing = waiting - (rows[0]?.count ?? 0);
    const until = published + Math.ceil(missing / fanOut) * fanOut;
    await publish(server, published, until);
    published = until;
  }

  async function timeKind({ what, ...request }: Kind): Promise<ClaimReport> {
    // One thing at a time, so that there is one connection.
    const { rows: own } = await watched.own.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const backend = own[0]?.pid ?? 0;
    const times: number[] = [];
    const undisturbed: number[] = [];
    const problems: string[] = [];
    let [after, deliveries]: [string | null, number] = [null, 0];
    let sent: Ran | undefined;
    for (let claim = 0; claim < claims; claim += 1) {
      const claimId = randomBytes(16).toString('hex');
      const hold = { ...request, claimId, now: begun * runMs + claim, leaseMs: 30_000, after };
      const waited = () => cpuWait(backend) + cpuWait(process.pid);
      const [started, before] = [performance.now(), waited()];
      const claimed = await storage.deliveries.claim(hold);
      const ms = performance.now() - started;
      times.push(ms);
      undisturbed.push(ms - (waited() - before));
      after = claimed.at(-1)?.endpointId ?? after;
      deliveries += claimed.length;
      // What was sent is kept no longer than this: clearing it away would be counted.
      sent = watched.ran().findLast(({ text }) => text.includes('SET claim_id')) ?? sent;
      if (claimed.length === 0) problems.push(`claim ${claim} got nothing`);
      const counted = await storage.deliveries.finish(claimed.map(delivered));
      if (counted.includes(false)) problems.push(`claim ${claim}: a result did not count`);
    }
    const steps = stepsOf(await planOf(server.app, sent));
    return {
      what,
      claims: times.length,
      deliveries,
      median: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      p99Undisturbed: percentile(undisturbed, 0.99),
      worst: Math.max(...times),
      steps,
      problems: [...problems, ...claimFaults(steps)],
    };
  }

  /** @throws whatever broke the run off, unless others had the processors: then it is `null`, and repeated */
  async function turn(kind: Kind): Promise<Turn<ClaimReport | null>> {
    begun += 1;
    const [whole, ofClaims] = [createStolenTime(), createStolenTime()];
    try {
      await topUp();
      ofClaims();
      const value = await timeKind(kind);
      // What is wrong is wrong, whatever others took.
      return { value, stolen: value.problems.length > 0 ? 0 : ofClaims() };
    } catch (error) {
      const stolen = whole() ?? 0;
      if (stolen <= quiet.most) throw error;
      return { value: null, stolen };
    }
  }

  try {
    await storage.open();
    await createEndpoints(server);
    const reports: (ClaimReport | null)[] = [];
    for (let run = 0; run < runs; run += 1) {
      for (const kind of kinds) reports.push(...(await quiet.values([() => turn(kind)])));
    }
    return reports.filter((report) => report !== null);
  } finally {
    await storage.close();
    await watched.end();
    await server.remove();
  }
}
