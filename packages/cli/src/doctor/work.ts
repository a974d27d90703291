import type { Examined } from './examined.ts';
import { type CheckResult, ok, problem, warning } from './finding.ts';
import { countDropped, countFailing, countFailingEndpoints, oldestEvent, readWaiting } from './readings.ts';

const dayMs = 24 * 3_600_000;
/**
 * Waiting time above which work is late, in milliseconds. Workers poll every second, so work that waits longer
 * has no worker, or the workers do not keep up.
 */
const lateMs = 60_000;
/** Waiting time above which late work is a problem and not only a warning, in milliseconds. */
const veryLateMs = 600_000;

function judge(count: number, ageMs: number, mend: string): CheckResult {
  const what = `${count} due, the oldest for ${Math.round(ageMs / 1_000)} s`;
  if (ageMs <= lateMs) return ok(count === 0 ? 'nothing waits' : what);
  return (ageMs > veryLateMs ? problem : warning)(what, 'Workers do not keep up, or there are none.', mend);
}

/** Checks whether jobs are done in time and succeed. */
export async function* checkJobs({ database, now }: Examined): AsyncGenerator<CheckResult> {
  const { jobs, oldestJobMs } = await readWaiting(database, now());
  yield judge(jobs, oldestJobMs, 'Read the log of the workers; start another one.');
  const failing = await countFailing(database);
  if (failing === 0) return;
  yield warning(
    `${failing} failed and will be retried`,
    'For transfers among them it is unknown whether the money moved.',
    'Look for "a job failed" in the log of the workers.',
  );
}

/**
 * Checks whether an installation delivers events in time, whether endpoints fail, and whether deliveries were
 * dropped.
 */
export async function* checkDeliveries({ database, now }: Examined): AsyncGenerator<CheckResult> {
  const { deliveries, oldestDeliveryMs } = await readWaiting(database, now());
  const mend = 'Start another worker. A slow endpoint holds up only its own deliveries.';
  yield judge(deliveries, oldestDeliveryMs, mend);
  const failing = await countFailingEndpoints(database, now() - dayMs);
  if (failing > 0)
    yield warning(
      `${failing} ${failing === 1 ? 'endpoint fails' : 'endpoints fail'} now`,
      'Their partners get no events, or not all of them.',
      'ostiary partners show <partner> names the reason.',
    );
  const dropped = await countDropped(database, now() - dayMs);
  if (dropped === 0) return;
  yield warning(
    `${dropped} were dropped within a day, after their last attempt`,
    'Partners have missed events.',
    'Notify them; once their endpoint works again: ostiary endpoints recover <partner> <endpoint id> --since <time>.',
  );
}

/** Checks whether events are removed once their retention time is over. */
export async function* checkRetention({ settings, database, now }: Examined): AsyncGenerator<CheckResult> {
  const oldest = await oldestEvent(database);
  const { retentionDays } = settings;
  const days = oldest === null ? 0 : (now() - oldest) / dayMs;
  yield days <= retentionDays + 1
    ? ok(`events are kept for ${retentionDays} days`)
    : problem(
        `the oldest event is ${Math.floor(days)} days old, and is to be kept for ${retentionDays}`,
        'Old rows are not removed: the database grows, and data is kept for longer than announced.',
        'Look for "purge" in the log of the workers; ostiary purge removes them now.',
      );
}
