import { setTimeout } from 'node:timers/promises';
import { insist } from '../../support/insist.ts';
import { openLoop } from '../../support/measure/open-loop.ts';
import { nowIn } from '../../support/processes/cluster-options.ts';
import { publish, type Stage, setStage } from '../../support/processes/stage.ts';
import { Load } from '../faults/load.ts';

/** How long, and how much. */
interface SoakSize {
  readonly seconds: number;
  readonly sampleSeconds: number;
  /** That are published beside those of the clients. */
  readonly eventsPerSecond: number;
  readonly fsync: boolean;
}

/** Bytes by the name of a table or an index. */
type Sample = ReadonlyMap<string, number>;

/** What may come on top by chance: where vacuum happened to be, in bytes and as a share. */
const slackBytes = 512 * 1024;
const slackFactor = 1.25;

const dayMs = 24 * 3600_000;

/** A delivery that is pending for longer is late, in milliseconds. */
const lateMs = 30_000;

/** Of tables and indexes. Transfers are kept for ever. */
const sizes = `
  SELECT relname AS name, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END::float8 AS bytes
  FROM pg_class WHERE relnamespace = 'ostiary'::regnamespace AND relkind IN ('r', 'i') AND relname NOT LIKE 'transfers%'
`;

async function sampleOf({ server: { app } }: Stage): Promise<Sample> {
  const { rows } = await app.query<{ name: string; bytes: number }>(sizes);
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Removes what is older than the retention, as the worker's job does, only more often and with a shorter one. */
async function purge({ storage, time }: Stage, retentionMs: number): Promise<number> {
  const limit = 500;
  let purged = 0;
  for (;;) {
    const now = nowIn(time);
    const count = await storage.purge({
      // Records of idempotency keys end a day after they were made.
      now: now + dayMs - retentionMs,
      before: now - retentionMs,
      eventsBefore: now - retentionMs,
      limit,
    });
    const removed = Object.values(count);
    purged += removed.reduce((sum, one) => sum + one, 0);
    if (removed.every((one) => one < limit)) return purged;
  }
}

/** The largest size of every table and index in the second and in the last third of the time, in bytes. */
function growthOf(samples: readonly Sample[]) {
  const third = Math.floor(samples.length / 3);
  const parts = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  return [...(samples.at(-1)?.keys() ?? [])].map((relation) => {
    const sizeOf = (sample: Sample) => sample.get(relation) ?? 0;
    const [second = 0, last = 0] = parts.map((part) => Math.max(...part.map(sizeOf)));
    const holds = last <= second * slackFactor || last - second <= slackBytes;
    return { relation, thirds: [second, last], holds };
  });
}

/** Publishes, delivers and purges at a constant rate, and looks at the size of everything. */
export async function soak(size: SoakSize) {
  const { seconds, fsync } = size;
  const retentionMs = (seconds * 1000) / 10;
  // The tables live a tenth of the time here, not 30 days: what cleans up has to come by as often.
  const naptime = Math.min(5, Math.max(1, Math.round(retentionMs / 12_000)));
  await using ends = new AsyncDisposableStack();
  const settings = [`autovacuum_naptime=${naptime}s`];
  const stage = await setStage(ends, { webs: 1, workers: 2, endpoints: 4, fsync, settings });
  const load = new Load(stage, 1, { payers: 2, publishers: 1, exchangers: 0, pauseMs: 50 });
  ends.defer(() => load.abandon());
  load.begin('none');
  await load.start();
  const samples: Sample[] = [];
  const totals: number[] = [];
  let purged = 0;
  const look = async (): Promise<void> => {
    const sample = await sampleOf(stage);
    samples.push(sample);
    totals.push([...sample.values()].reduce((sum, bytes) => sum + bytes, 0));
  };
  const failures: string[] = [];
  const loop = (perSecond: number, work: () => Promise<unknown>) =>
    openLoop(perSecond, work, ({ failure }) => void (failure !== null && failures.push(failure)));
  const loops = [
    loop(size.eventsPerSecond, () => publish(stage.ostiary, 1)),
    loop(1, async () => {
      purged += await insist(() => purge(stage, retentionMs));
    }),
    loop(1 / size.sampleSeconds, look),
  ];
  await setTimeout(seconds * 1000);
  await Promise.all(loops.map((one) => one.stop()));
  await look();
  await load.stop();
  const late = await stage.server.app.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM ostiary.pending_deliveries WHERE due_at < $1',
    [Math.round(nowIn(stage.time) - lateMs)],
  );
  return {
    growth: growthOf(samples),
    ...{ totals, purged, deliveries: stage.receiver.requests },
    problems: [
      ...failures,
      ...(load.tallies.get('none')?.wrong ?? []),
      ...(late.rows[0]?.count === 0 ? [] : [`${late.rows[0]?.count} deliveries are late`]),
      ...(purged > 0 ? [] : ['nothing was purged']),
    ],
  };
}
