import { type Examined, namesOf } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { countDropped, countFailing, oldestEvent, readWaiting } from './readings.ts';

const dayMs = 24 * 3_600_000;
/** Workers look every second; what waits for longer waits for a worker. */
const lateMs = 60_000;
const veryLateMs = 600_000;

/** Whether somebody does what waits. */
export async function checkWorkers({ nodes }: Examined): Promise<readonly Finding[]> {
  const { ok, problem } = findingsOf('workers');
  if (nodes === null) return [];
  const workers = nodes.filter(({ role }) => role !== 'web');
  return [
    workers.length > 0
      ? ok(namesOf(workers))
      : problem(
          'no worker runs',
          'Transfers stay pending, webhooks wait, and old rows are kept.',
          'Start a process that runs the worker.',
        ),
  ];
}

function judge(check: string, count: number, ageMs: number, mend: string): Finding {
  const { ok, warning, problem } = findingsOf(check);
  const what = `${count} due, the oldest for ${Math.round(ageMs / 1_000)} s`;
  if (ageMs <= lateMs) return ok(count === 0 ? 'nothing waits' : what);
  return (ageMs > veryLateMs ? problem : warning)(what, 'Workers do not keep up, or there are none.', mend);
}

/** Whether work is done in time, and comes to something. */
export async function checkWork({ database, now }: Examined): Promise<readonly Finding[]> {
  const waiting = await readWaiting(database, now());
  const found = [
    judge('jobs', waiting.jobs, waiting.oldestJobMs, 'Look at the log of the workers; start another one.'),
    judge(
      'deliveries',
      waiting.deliveries,
      waiting.oldestDeliveryMs,
      'Start another worker. A slow endpoint holds up only its own deliveries.',
    ),
  ];
  const failing = await countFailing(database);
  if (failing > 0) {
    found.push(
      findingsOf('jobs').warning(
        `${failing} failed and are tried again`,
        'Of transfers among them nobody knows whether the money moved.',
        'Look for "a job failed" in the log of the workers.',
      ),
    );
  }
  const dropped = await countDropped(database, now() - dayMs);
  if (dropped > 0) {
    found.push(
      findingsOf('deliveries').warning(
        `${dropped} were dropped within a day, after their last attempt`,
        'Partners have missed events.',
        'Tell them; when their endpoint is well again: ostiary endpoints recover.',
      ),
    );
  }
  return found;
}

/** Whether old rows go. */
export async function checkRetention({ settings, database, now }: Examined): Promise<readonly Finding[]> {
  const { ok, problem } = findingsOf('retention');
  const oldest = await oldestEvent(database);
  const { retentionDays } = settings;
  const days = oldest === null ? 0 : (now() - oldest) / dayMs;
  return [
    days <= retentionDays + 1
      ? ok(`events are kept for ${retentionDays} days`)
      : problem(
          `the oldest event is ${Math.floor(days)} days old, and is to be kept for ${retentionDays}`,
          'Old rows are not removed: the database grows, and data is kept for longer than was said.',
          'Look for "purge" in the log of the workers; ostiary purge removes them now.',
        ),
  ];
}
