import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { PurgeCount, Storage } from '@ostiary/core/storage';
import type { Core } from '../../../packages/core/src/options/context.ts';
import { purgeHandler, purgeKind } from '../../../packages/core/src/worker/purge.ts';
import { seeded } from '../../support/arguments.ts';
import { openLoop } from '../../support/measure/open-loop.ts';
import { median } from '../../support/measure/statistics.ts';
import type { ProofServer } from '../../support/postgres/postgres-server.ts';
import { now as newest, ownerOf, spanMs } from './fill.ts';
import type { Filled } from './measure.ts';
import { delivered, newEvent } from './operations.ts';

/**
 * Pace of the purge test: how long events are added and purged, how many events are added per second, and how
 * long the purge rests.
 */
interface Pace {
  readonly seconds: number;
  readonly perSecond: number;
  /** Pause between two runs of the purge. The worker's ten minutes would exceed the duration of the proof. */
  readonly restSeconds: number;
}

/** Number of events, each for another partner, that one call publishes. */
const together = 50;

const sizes = `
  SELECT
    sum(pg_table_size(relid))::float8 AS tables, sum(pg_indexes_size(relid))::float8 AS indexes,
    sum(n_dead_tup)::integer AS dead, sum(vacuum_count + autovacuum_count)::integer AS vacuums
  FROM pg_stat_user_tables
  WHERE schemaname = $1 AND relname IN ('events', 'deliveries', 'grants', 'access_tokens')
`;

/**
 * Returns the SQL that counts the rows due for removal, for the kind with the most. Row `i` of a table has
 * the number `i`.
 */
const waiting = (schema: string) => `
  SELECT greatest(
    (SELECT count(*) FROM "${schema}".events WHERE number < $1),
    (SELECT count(*) FROM "${schema}".deliveries WHERE number < $1),
    (SELECT count(*) FROM "${schema}".grants WHERE id < $1),
    (SELECT count(*) FROM "${schema}".access_tokens WHERE grant_id < $1)
  )::integer AS backlog
`;

/** Wraps a storage and measures the time of each purge. */
function timed(storage: Storage) {
  let batches: number[] = [];
  return {
    /** Returns the milliseconds that each batch of purged rows took since the last call. */
    batches: () => batches.splice(0),
    storage: {
      ...storage,
      async purge(request: Parameters<Storage['purge']>[0]): Promise<PurgeCount> {
        const started = performance.now();
        const count = await storage.purge(request);
        batches = [...batches, performance.now() - started];
        return count;
      },
    },
  };
}

/** Measures the number of rows that are due for removal now, and the size of the tables. */
async function measure(
  { app }: ProofServer,
  { schema, size }: Filled,
  purging: ReturnType<typeof timed>,
  clock: number,
) {
  const { rows } = await app.query<{ tables: number; indexes: number; dead: number; vacuums: number }>(
    sizes,
    [schema],
  );
  const due = Math.floor(((clock - newest) * size) / spanMs);
  const left = await app.query<{ backlog: number }>(waiting(schema), [due]);
  const batches = purging.batches();
  return {
    ...{ due, backlog: left.rows[0]?.backlog ?? Number.NaN },
    batches: batches.length,
    batchMs: median(batches),
    ...{ tables: 0, indexes: 0, dead: 0, vacuums: 0, ...rows[0] },
  };
}

/**
 * Publishes, delivers and purges events as a worker does. The clock is so fast that as many old rows become
 * due for removal as new rows are added.
 */
export async function keepUp(server: ProofServer, filled: Filled, { seconds, perSecond, restSeconds }: Pace) {
  const { storage, size } = filled;
  await server.app.query('ALTER SYSTEM SET autovacuum = on');
  await server.app.query('SELECT pg_reload_conf()');
  const speed = (perSecond * spanMs) / size / 1000;
  const begun = performance.now();
  const now = () => Math.round(newest + (performance.now() - begun) * speed);
  const random = seeded(7);
  const failures: string[] = [];
  const times: number[] = [];
  const purging = timed(storage);
  const moments = [await measure(server, filled, purging, now())];
  const failed = ({ failure }: { readonly failure: string | null }) =>
    void (failure !== null && failures.push(failure));
  const isOver = () => performance.now() - begun > seconds * 1000;
  let finished = 0;

  /**
   * Repeats some work until the end of the proof. After a failure, which is reported, the work is tried again
   * as in a worker.
   */
  async function until(what: string, work: () => Promise<void>): Promise<void> {
    while (!isOver()) await work().catch((error: unknown) => failed({ failure: `${what}: ${error}` }));
  }

  const deliver = () =>
    until('deliver', async () => {
      const request = { claimId: randomUUID(), now: now(), leaseMs: 60_000 * speed, limit: 1_024 };
      const claimed = await storage.deliveries.claim({
        ...request,
        endpointLimit: 1_024,
        endpointLimits: new Map(),
      });
      finished += (await storage.deliveries.finish(claimed.map(delivered))).filter(Boolean).length;
      if (claimed.length < 100) await setTimeout(50);
    });

  function purge(): Promise<void> {
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const core = {
      storage: purging.storage,
      clock: { now },
      options: { logger, webhooks: { retentionDays: 30, retryDelaysSeconds: [60] } },
    };
    const handler = purgeHandler(core as unknown as Core, {});
    const job = {
      id: purgeKind,
      kind: purgeKind,
      payload: {},
      dueAt: 0,
      claimId: '',
      attempt: 1,
      owner: '' as const,
    };
    return until('purge', async () => {
      const next = await handler({}, job);
      // The purge has finished, and has not only yielded to other work.
      if (next !== null && next.dueAt > now()) await setTimeout(restSeconds * 1000);
    });
  }

  const publishing = openLoop(
    perSecond / together,
    () => {
      const events = Array.from({ length: together }, () =>
        newEvent(ownerOf(Math.ceil(((1 + random()) * size) / 2), size), 'payment.completed', now()),
      );
      return storage.events.publish(events, { idempotency: null, now: now() });
    },
    (outcome) => {
      times.push(outcome.ms);
      failed(outcome);
    },
  );
  const looking = openLoop(
    3 / restSeconds,
    async () => void moments.push(await measure(server, filled, purging, now())),
    failed,
  );
  await Promise.all([deliver(), purge()]);
  await Promise.all([publishing.stop(), looking.stop()]);
  return { moments, failures, published: times.length * together, finished, publishMs: median(times) };
}
