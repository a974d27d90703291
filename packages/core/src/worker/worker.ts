import { createShares, type FairShares, modeOf } from '../limits/shares.ts';
import type { Core } from '../options/context.ts';
import type { ClaimedJob, JobHandler, JobResult } from '../ports/queue.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import { nodeTimer, type Schedule } from '../time/clock.ts';
import { createPolling, type Found } from './polling.ts';
import { stopGraceMs } from './stopping.ts';

/** Functions that handle jobs, by the kind of job. */
export type JobHandlers = { readonly [kind: string]: JobHandler };

/** Runs jobs and webhook deliveries in the background. Any number of processes may run a worker. */
export interface Worker {
  /** Starts to poll for work, until `stop`. May be called again. */
  start(): void;
  /** Polls for work now instead of at the next interval. Has no effect if the worker is not started. */
  wake(): void;
  /**
   * Claims due work once, at most 32 jobs and 1,024 deliveries, and runs it. Returns the number of claimed jobs
   * and deliveries.
   */
  runDue(): Promise<number>;
  /**
   * Stops claiming work. Resolves when all running work has ended. Webhooks and notifications to other
   * servers may take ten seconds from their start, so that a deployment sends no request twice: allow fifteen
   * seconds. A call of `payments.execute` may take twenty.
   */
  stop(): Promise<void>;
}

/** Duration of a lease on jobs or deliveries, in milliseconds. */
export const leaseMs = 30_000;
/** Maximum number of jobs in one claim. */
const batch = 32;
/** Maximum number of concurrent jobs of one kind, if the kind has no limit of its own. */
const defaultAtOnce = 32;

/**
 * Returns the wait before the next attempt at a failed job, in milliseconds: 1 s, doubled each time, up to an
 * hour.
 */
function backoffMs(attempt: number): number {
  return Math.min(1000 * 2 ** (attempt - 1), 3_600_000);
}

/**
 * Waits after the first failure of a job, the second and so on, in milliseconds. The last one applies to all
 * further failures.
 */
export const jobRetryMs: readonly number[] = Array.from({ length: 13 }, (_, index) => backoffMs(index + 1));

/** Returns the span that enqueued a job, which the payload of some kinds of jobs contains. */
function traceparentIn({ payload: { traceparent } }: ClaimedJob): string | null {
  return typeof traceparent === 'string' ? traceparent : null;
}

/** Returns a function that runs a job and stores its result in the queue. */
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
        origin: { traceparent: traceparentIn(job) },
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
 * Creates a worker for jobs, which does nothing before `start` or `runDue`. A running job occupies one place
 * of its kind. The worker claims more jobs whenever there are free places, even if earlier jobs are still
 * running. Partners and modes share the places of each kind, so that hanging jobs of one partner delay no
 * other partner.
 *
 * @param atOnce - maximum number of concurrent jobs, by kind
 * @param abort - aborts the outgoing requests of jobs, after `stop` has waited for them
 */
export function createWorker(
  core: Core,
  handlers: JobHandlers,
  {
    atOnce = {},
    abort = () => {},
    schedule = nodeTimer,
  }: {
    readonly atOnce?: { readonly [kind: string]: number };
    readonly abort?: () => void;
    readonly schedule?: Schedule;
  } = {},
): Worker {
  const { clock, random, counts } = core;
  const { queue } = core.storage;
  const { logger } = core.options;
  const run = jobRunner(core, handlers);
  const sharesOf = new Map(
    Object.keys(handlers).map((kind) => [kind, createShares(atOnce[kind] ?? defaultAtOnce)]),
  );
  const underWay = new Set<Promise<void>>();

  function begin(job: ClaimedJob, shares: FairShares): void {
    shares.begin(job.owner);
    const end = run(job)
      .catch((error: unknown) =>
        logger.warn({ err: error, job: job.id }, 'what came of a job could not be stored'),
      )
      .finally(() => {
        underWay.delete(end);
        // Keep claims large: after an owner had all its places occupied, poll only when a quarter of them is
        // free.
        if (shares.end(job.owner)) polling.resume();
      });
    underWay.add(end);
  }

  /** Claims jobs of all kinds that have free places, and starts them. */
  async function claim(): Promise<Found> {
    const open = Array.from(sharesOf, ([kind, shares]) => [kind, shares.forClaim()] as const).filter(
      ([, { free }]) => free.live > 0,
    );
    if (open.length === 0) return { claimed: 0, isCutOff: false };
    const now = clock.now();
    const jobs = await queue.claim({
      kinds: open.map(([kind]) => kind),
      claimId: random.bytes(16).toString('hex'),
      now,
      leaseMs,
      limit: batch,
      shares: new Map(open),
    });
    for (const job of jobs) {
      counts.measure('wait_ms', modeOf(job.owner), Math.max(0, now - job.dueAt));
      const shares = sharesOf.get(job.kind);
      if (shares !== undefined) begin(job, shares);
    }
    return { claimed: jobs.length, isCutOff: jobs.length === batch };
  }

  async function untilAllEnded(): Promise<void> {
    await Promise.all(underWay);
  }

  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'the queue cannot be read; it is tried again',
    working: 'the queue can be read again',
  });
  const polling = createPolling({ claim, outages, schedule });

  return {
    start: polling.start,
    wake: polling.wake,
    async runDue() {
      const { claimed } = await claim();
      await untilAllEnded();
      return claimed;
    },
    async stop() {
      await polling.stop();
      if (underWay.size === 0) return;
      const callOff = schedule(abort, stopGraceMs);
      await untilAllEnded();
      callOff();
    },
  };
}
