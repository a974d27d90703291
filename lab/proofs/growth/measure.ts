import { postgresStorage } from '@ostiary/adapter-postgres';
import type { Storage } from '@ostiary/core/storage';
import { nodesOf, planOf, withoutFrame } from '../../../packages/adapter-postgres/test/plans.ts';
import { type Ran, watchedPool } from '../../../packages/adapter-postgres/test/watched-pool.ts';
import { median, percentile } from '../../support/measure/statistics.ts';
import type { ProofServer } from '../../support/postgres/postgres-server.ts';
import { fill } from './fill.ts';
import { bareLookUp, type Operation, operations, type Place } from './operations.ts';

/** Database tables that grow with the number of records. */
const large = new Set([
  ...['consents', 'grants', 'access_tokens', 'transfers', 'idempotency_records'],
  ...['events', 'deliveries', 'delivery_attempts'],
]);

/** A database schema whose growing tables have `size` rows each. */
export type Filled = Awaited<ReturnType<typeof filled>>;

export async function filled(ends: AsyncDisposableStack, server: ProofServer, size: number) {
  const schema = `rows_${size}`;
  const watched = watchedPool(server.url('app'));
  ends.defer(() => watched.end());
  const storage: Storage = postgresStorage({ pool: watched.pool, schema });
  ends.defer(() => storage.close());
  await storage.open();
  const started = performance.now();
  await fill(server, schema, size);
  const held: Place['held'] = [];
  return { size, schema, watched, storage, held, seconds: (performance.now() - started) / 1000 };
}

/** Numbers of calls of an operation for each table size. */
interface Calls {
  /**
   * Warm-up calls, which are not counted: during these calls connections prepare statements, and caches fill.
   */
  readonly first: number;
  /** Number of turns. The table sizes take turns, so that other load on the machine affects all sizes. */
  readonly rounds: number;
  readonly perRound: number;
}

/** Measured cost of an operation for one table size. */
export interface Taken {
  readonly size: number;
  /** Median time of the operation in milliseconds. */
  readonly p50: number;
  /** Median time of a plain look-up after each call of the operation, in milliseconds. */
  readonly bareP50: number;
  readonly p99: number;
  /** Average number of pages that PostgreSQL read for a call, by the server's own count. */
  readonly pages: number;
  /** Ways in which the SQL statements of the operation read tables, each with the index or the table. */
  readonly plan: string;
  /** Growing tables that PostgreSQL read from beginning to end. */
  readonly scanned: readonly string[];
}

const counted = `
  SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS pages FROM pg_stat_statements
  WHERE toplevel AND userid = 'ostiary'::regrole AND query NOT LIKE 'SELECT body FROM %'
`;

async function planned({ app }: ProofServer, ran: readonly Ran[]) {
  const nodes = (await Promise.all(ran.map((one) => planOf({ own: app }, one)))).flatMap(nodesOf);
  const read = nodes.filter(
    ({ 'Relation Name': relation, 'Node Type': type }) => relation && type !== 'ModifyTable',
  );
  const steps = read.map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name']}`);
  const scans = read
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => `${node['Relation Name']}`);
  return { plan: [...new Set(steps)].join(', '), scanned: scans.filter((table) => large.has(table)) };
}

/** Measures one operation for every table size. */
async function take(server: ProofServer, places: readonly Filled[], operation: Operation, calls: Calls) {
  const { app } = server;
  const sides = places.map((place) => ({
    place,
    times: [] as number[],
    bare: [] as number[],
    made: 0,
    pages: 0,
  }));
  async function callSide(side: (typeof sides)[number], count: number): Promise<void> {
    await app.query('SELECT pg_stat_statements_reset()');
    for (let call = 0; call < count; call += 1) {
      side.place.watched.ran();
      const place = { ...side.place, call: side.made };
      const started = performance.now();
      await operation(place);
      const between = performance.now();
      await bareLookUp(place);
      side.times.push(between - started);
      side.bare.push(performance.now() - between);
      side.made += 1;
    }
    const { rows } = await app.query<{ pages: number }>(counted);
    side.pages += rows[0]?.pages ?? Number.NaN;
  }
  for (const side of sides) {
    await callSide(side, calls.first);
    Object.assign(side, { times: [], bare: [], pages: 0 });
  }
  for (let round = 0; round < calls.rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await callSide(side, calls.perRound);
  }
  const taken: Taken[] = [];
  for (const { place, times, bare, pages } of sides) {
    const { size, watched } = place;
    const plan = await planned(server, withoutFrame(watched.ran()));
    taken.push({
      size,
      p50: median(times),
      bareP50: median(bare),
      p99: percentile(times, 0.99),
      pages: pages / times.length,
      ...plan,
    });
  }
  return taken;
}

/** Measures all operations for every table size. */
export async function measure(
  server: ProofServer,
  places: readonly Filled[],
  calls: Calls,
): Promise<Map<string, Taken[]>> {
  await server.app.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const all = new Map<string, Taken[]>();
  for (const [name, operation] of Object.entries(operations))
    all.set(name, await take(server, places, operation, calls));
  return all;
}

/**
 * Returns the PostgreSQL settings of all measurements. @param memory - size of the server's cache, such as
 * `2GB`
 */
export const settingsWith = (memory: string): string[] => [
  'shared_preload_libraries=pg_stat_statements',
  `shared_buffers=${memory}`,
  'maintenance_work_mem=512MB',
  'max_wal_size=8GB',
];
