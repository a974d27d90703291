import { randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import type { DeliveryResult } from '@ostiary/core';
import { escapeLiteral, type Pool } from 'pg';
import { createStolenTime } from '../../benchmarks/shared/stolen-time.ts';
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
  /** What other virtual machines took of the processors meanwhile, from 0 to 1; `null` where the system does not tell. */
  readonly stolen: number | null;
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

/** Deliveries of which none was tried: a fifth of them of one endpoint, and as many delivered ones as history. */
async function fill({ app }: ProofServer, waiting: number): Promise<void> {
  await app.query(`
    SET search_path TO ostiary;
    INSERT INTO webhook_endpoints
      SELECT 'we_' || lpad(i::text, 6, '0'), 'acme', 'live', 'https://example.com/', '{*}', true, repeat('s', 80), 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'acme', 'live', i, 'kyc.updated', repeat('x', 300), i
      FROM generate_series(1, ${Math.ceil(waiting / fanOut)}) AS i;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT 'dl_' || i, (i + ${fanOut} - 1) / ${fanOut},
        'we_' || lpad((CASE WHEN i % 5 = 0 THEN 500 ELSE 1 + i % ${endpoints} END)::text, 6, '0'),
        'acme', 'live', 'pending', i
      FROM generate_series(1, ${waiting}) AS i;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT id, number, endpoint_id, event_number, created_at FROM deliveries;
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

/** Claims what waits, as workers do, with the result of each claim written before the next one. */
export async function timeClaims(size: {
  readonly waiting: number;
  readonly claims: number;
  readonly fsync: boolean;
}): Promise<ClaimReport[]> {
  const server = await startServer({ fsync: size.fsync });
  const watched = watchedPool(server.url('app'));
  const storage = postgresStorage({ pool: watched.pool });
  try {
    await storage.open();
    await fill(server, size.waiting);
    const busy = Array.from({ length: 20 }, (_, index): [string, number] => [
      `we_${String(491 + index).padStart(6, '0')}`,
      8,
    ]);
    const kinds = [
      // As a worker that has just started: a few of each endpoint.
      {
        what: 'of endpoints that nobody knows',
        perEndpoint: 2,
        slots: new Map<string, number>(),
        limit: 256,
      },
      // As one that has room for more of some endpoints, one of them with a fifth of everything.
      { what: 'of 20 endpoints with room for more', perEndpoint: 2, slots: new Map(busy), limit: 256 },
      // As one in which strangers have all the room that they get.
      { what: 'of known endpoints only', perEndpoint: 0, slots: new Map(busy), limit: 256 },
    ];
    // One thing at a time, so that there is one connection.
    const { rows: own } = await watched.own.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const backend = own[0]?.pid ?? 0;
    const reports: ClaimReport[] = [];
    for (const { what, ...request } of kinds) {
      const times: number[] = [];
      const undisturbed: number[] = [];
      const problems: string[] = [];
      const stolen = createStolenTime();
      let [after, deliveries]: [string | null, number] = [null, 0];
      let sent: Ran | undefined;
      for (let claim = 0; claim < size.claims; claim += 1) {
        const claimId = randomBytes(16).toString('hex');
        const hold = { ...request, claimId, now: size.waiting + claim, leaseMs: 30_000, after };
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
      const taken = stolen();
      const steps = stepsOf(await planOf(server.app, sent));
      reports.push({
        what,
        claims: times.length,
        deliveries,
        median: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        p99Undisturbed: percentile(undisturbed, 0.99),
        worst: Math.max(...times),
        steps,
        problems: [...problems, ...claimFaults(steps)],
        stolen: taken,
      });
    }
    return reports;
  } finally {
    await storage.close();
    await watched.end();
    await server.remove();
  }
}
