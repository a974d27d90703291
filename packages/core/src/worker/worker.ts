import type { Core } from '../context.ts';
import type { ClaimedJob, JobHandler, JobResult } from '../ports/queue.ts';
import { createLooking, type Found, nodeTimer, type Schedule } from './looking.ts';

/** A handler for each kind of job. */
export type JobHandlers = { readonly [kind: string]: JobHandler };

/** Work in the background. Any number of processes may run one. */
export interface Worker {
  /** Begins to look for work, until `stop`. Repeatable. */
  start(): void;
  /** Looks for work now rather than at the next look; without effect while the worker is not started. */
  wake(): void;
  /** Claims what is due and does it, once. Answers how many jobs it claimed. */
  runDue(): Promise<number>;
  /** Claims nothing more, and resolves when what is under way has ended. */
  stop(): Promise<void>;
}

const leaseMs = 30_000;
/** Jobs that are claimed together, and under way at once. */
const batch = 32;
/** What `stop` leaves them of their time, in milliseconds. */
const graceMs = 5_000;
/** Jobs that are under way beside those. */
const mostBeside = 256;

/** Wait before the next try of a job that failed: 1 s, doubling, up to an hour. */
function backoffMs(attempt: number): number {
  return Math.min(1000 * 2 ** (attempt - 1), 3_600_000);
}

/** Does a job and says in the queue what came of it. */
function jobRunner(
  { storage: { queue }, clock, telemetry, options: { logger } }: Core,
  handlers: JobHandlers,
) {
  function perform(handler: JobHandler, job: ClaimedJob): Promise<JobResult> {
    if (telemetry === null) return handler(job.payload, job);
    return telemetry.measure(
      {
        metric: 'ostiary.job.duration',
        span: `job ${job.kind}`,
        labels: { 'ostiary.job.kind': job.kind },
        details: { 'ostiary.job.id': job.id, 'ostiary.job.attempt': job.attempt },
      },
      () => handler(job.payload, job),
    );
  }

  return async (job: ClaimedJob): Promise<void> => {
    const handler = handlers[job.kind];
    if (handler === undefined) return;
    try {
      const result = await perform(handler, job);
      if (result === null) await queue.complete(job);
      else await queue.retry(job, { dueAt: result.dueAt, error: null });
    } catch (error) {
      logger.warn(
        { err: error, job: job.id, kind: job.kind, attempt: job.attempt },
        'a job failed; it is tried again',
      );
      const reason = error instanceof Error ? error.name : 'Error';
      await queue.retry(job, { dueAt: clock.now() + backoffMs(job.attempt), error: reason });
    }
  };
}

/**
 * Creates a worker; it does nothing before `start` or `runDue`.
 *
 * @param beside - kinds of jobs for which no other job waits, because they wait for the server of somebody else
 * @param abort - ends what those wait for
 */
export function createWorker(
  core: Core,
  handlers: JobHandlers,
  {
    beside = [],
    abort = () => {},
    schedule = nodeTimer,
  }: { readonly beside?: readonly string[]; readonly abort?: () => void; readonly schedule?: Schedule } = {},
): Worker {
  const { clock, random } = core;
  const { queue } = core.storage;
  const { logger } = core.options;
  const run = jobRunner(core, handlers);
  const kinds = Object.keys(handlers);
  const underWay = new Set<Promise<void>>();

  function runBeside(job: ClaimedJob): void {
    const end = run(job)
      .catch((error: unknown) =>
        logger.warn({ err: error, job: job.id }, 'what came of a job could not be stored'),
      )
      .finally(() => underWay.delete(end));
    underWay.add(end);
  }

  /** Claims what is due, and waits for those jobs that others wait for. */
  async function work(): Promise<Found> {
    const isFull = underWay.size >= mostBeside;
    const jobs = await queue.claim({
      kinds: isFull ? kinds.filter((kind) => !beside.includes(kind)) : kinds,
      claimId: random.bytes(16).toString('hex'),
      now: clock.now(),
      leaseMs,
      limit: batch,
    });
    await Promise.all(jobs.map((job) => (beside.includes(job.kind) ? runBeside(job) : run(job))));
    return { claimed: jobs.length, isCutOff: jobs.length === batch };
  }

  const trouble = 'the queue cannot be read; it is tried again';
  const looking = createLooking({ look: work, trouble, logger, schedule });

  return {
    start: looking.start,
    wake: looking.wake,
    async runDue() {
      const { claimed } = await work();
      await Promise.all(underWay);
      return claimed;
    },
    async stop() {
      await looking.stop();
      if (underWay.size === 0) return;
      const callOff = schedule(abort, graceMs);
      await Promise.all(underWay);
      callOff();
    },
  };
}
