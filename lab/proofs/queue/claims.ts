import { randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import type { Storage } from '@ostiary/core/storage';
import { nodesOf, planOf } from '../../../packages/adapter-postgres/test/plans.ts';
import {
  type Ran,
  type WatchedPool,
  watchedPool,
} from '../../../packages/adapter-postgres/test/watched-pool.ts';
import { resultOf } from '../../../packages/testing/src/contract/webhook-samples.ts';
import { percentile } from '../../support/measure/statistics.ts';
import { type ProofServer, startServer } from '../../support/postgres/postgres-server.ts';

/** Maximum number of endpoints of a partner in each mode (test or live). */
const ofPartner = 50;

/** Database tables whose size grows with the backlog of deliveries. */
const large = ['pending_deliveries', 'deliveries', 'events', 'delivery_attempts'];

/** Number of deliveries of each event. */
const fanOut = 10;

async function createEndpoints({ app }: ProofServer, endpoints: number): Promise<void> {
  await app.query(`
    SET search_path TO ostiary;
    INSERT INTO webhook_endpoints
      SELECT 'we_' || lpad(i::text, 6, '0'), 'p' || i / ${ofPartner}, 'live', 'https://example.com/', '{*}', true,
        repeat('s', 80), 1, 1, 1
      FROM generate_series(1, ${endpoints}) AS i;
    INSERT INTO endpoint_queues (endpoint_id, partner, mode) SELECT id, partner, mode FROM webhook_endpoints;
    INSERT INTO event_sequences (partner, mode, last) SELECT DISTINCT partner, mode, 0 FROM webhook_endpoints;
    RESET search_path;
  `);
}

/**
 * Stores deliveries without attempts, a fifth of the deliveries for one endpoint.
 * @param from - number of existing deliveries, a multiple of `fanOut`
 * @param to - number of deliveries afterwards, also a multiple of `fanOut`
 */
async function publish({ app }: ProofServer, endpoints: number, from: number, to: number): Promise<void> {
  await app.query(`
    SET search_path TO ostiary;
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at)
      SELECT 'evt_' || i, 'p0', 'live', i, 'kyc.updated', repeat('x', 300), i
      FROM generate_series(${from / fanOut + 1}, ${to / fanOut}) AS i;
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
      SELECT 'dl_' || i, (i + ${fanOut} - 1) / ${fanOut},
        'we_' || lpad((CASE WHEN i % 5 = 0 THEN ${busiest(endpoints)} ELSE 1 + i % ${endpoints} END)::text, 6, '0'),
        'p0', 'live', 'pending', i
      FROM generate_series(${from + 1}, ${to}) AS i;
    UPDATE event_sequences SET news = news + 1;
    INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
      SELECT id, number, endpoint_id, event_number, created_at FROM deliveries WHERE created_at > ${from};
    RESET search_path;
  `);
  // Vacuum, which autovacuum would otherwise do during the claims, and write the data to the disk.
  await app.query('VACUUM (ANALYZE)');
  await app.query('CHECKPOINT');
}

/** Returns the number of the endpoint with a fifth of all deliveries. */
const busiest = (endpoints: number): number => Math.ceil(endpoints / 2);

function kindsOf(endpoints: number) {
  const first = Math.max(1, busiest(endpoints) - 9);
  const last = Math.min(endpoints, first + 19);
  const busy = new Map<string, number>();
  for (let endpoint = first; endpoint <= last; endpoint += 1) {
    busy.set(`we_${String(endpoint).padStart(6, '0')}`, endpoints === 1 ? 256 : 8);
  }
  return [
    // Claims of a worker that has just started: a few deliveries of each endpoint.
    { what: 'of endpoints that nobody knows', endpointLimit: 2, endpointLimits: new Map<string, number>() },
    // Claims of a worker with room for more deliveries of some endpoints, one of which has a fifth of all.
    { what: `of ${busy.size} endpoints with room for more`, endpointLimit: 2, endpointLimits: busy },
    // Claims of a worker that has no room for further endpoints.
    { what: 'of known endpoints only', endpointLimit: 0, endpointLimits: busy },
  ];
}

/**
 * Simulated time between two runs, in milliseconds. The time is longer than a lease, so that deliveries that
 * one run has claimed are free in the next run.
 */
const runMs = 3_600_000;

interface ClaimSize {
  readonly waiting: number;
  readonly endpoints: number;
  /** Number of claims of deliveries in each run. */
  readonly claims: number;
  readonly runs: number;
  readonly fsync: boolean;
}

/** Result of a run in which workers claim deliveries: durations in milliseconds, and problems. */
export type ClaimReport = Awaited<ReturnType<typeof timeKind>>;

/**
 * Measures one kind of claiming deliveries. The results of the claimed deliveries are written before the next
 * claim.
 */
async function timeKind(
  storage: Storage,
  watched: WatchedPool,
  server: ProofServer,
  { what, ...request }: ReturnType<typeof kindsOf>[number],
  { claims, begun }: { readonly claims: number; readonly begun: number },
) {
  const times: number[] = [];
  const problems: string[] = [];
  let sent: Ran | undefined;
  for (let claim = 0; claim < claims; claim += 1) {
    const claimId = randomBytes(16).toString('hex');
    const hold = { ...request, limit: 256, claimId, now: begun * runMs + claim, leaseMs: 30_000 };
    const started = performance.now();
    const claimed = await storage.deliveries.claim(hold);
    times.push(performance.now() - started);
    // Keep only the last statement, because freeing more memory would be measured, too.
    sent = watched.ran().findLast(({ text }) => text.includes('claim_deliveries')) ?? sent;
    if (claimed.length === 0) problems.push(`claim ${claim} got nothing`);
    const counted = await storage.deliveries.finish(claimed.map((delivery) => resultOf(delivery)));
    if (counted.includes(false)) problems.push(`claim ${claim}: a result did not count`);
  }
  if (sent === undefined) throw new Error('no claim was sent');
  for (const { 'Node Type': type, 'Relation Name': relation = '' } of nodesOf(
    await planOf({ own: server.app }, sent),
  ))
    if (type === 'Seq Scan' && large.includes(relation)) problems.push(`a claim reads all of ${relation}`);
  return {
    what,
    claims: times.length,
    median: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    worst: Math.max(...times),
    problems,
  };
}

/**
 * Claims the backlog of deliveries as workers do, and measures each claim. Results are written before the
 * next claim. At the start of each run, the requested number of deliveries is waiting.
 */
export async function timeClaims(size: ClaimSize): Promise<ClaimReport[]> {
  const { waiting, endpoints, claims, runs, fsync } = size;
  await using ends = new AsyncDisposableStack();
  const server = await startServer({ fsync });
  ends.defer(() => server.remove());
  const watched = watchedPool(server.url('app'));
  ends.defer(() => watched.end());
  const storage = postgresStorage({ pool: watched.pool });
  ends.defer(() => storage.close());
  await storage.open();
  await createEndpoints(server, endpoints);
  const reports: ClaimReport[] = [];
  let published = 0;
  for (let run = 0; run < runs; run += 1) {
    for (const kind of kindsOf(endpoints)) {
      const { rows } = await server.app.query<{ count: number }>(
        'SELECT count(*)::integer FROM ostiary.pending_deliveries',
      );
      const missing = waiting - (rows[0]?.count ?? 0);
      const from = published;
      published += Math.ceil(missing / fanOut) * fanOut;
      await publish(server, endpoints, from, published);
      const begun = reports.length + 1;
      reports.push(await timeKind(storage, watched, server, kind, { claims, begun }));
    }
  }
  return reports;
}
