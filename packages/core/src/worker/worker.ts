import type { Core } from '../context.ts';
import { createOutageLog } from '../outage-log.ts';
import type { ClaimedJob, JobHandler, JobResult } from '../ports/queue.ts';
import { createLooking, type Found, nodeTimer, type Schedule } from './looking.ts';
import { stopGraceMs } from './stopping.ts';

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
  /**
   * Claims nothing more, and resolves when what is under way has ended. Webhooks and notices to other servers have ten seconds from
   * their start, as always, so that a deployment sends nothing twice: allow fifteen seconds.
   */
  stop(): Promise<void>;
}

/** How long a claim of jobs or deliveries lasts, in milliseconds. */
export const leaseMs = 30_000;
/** Jobs of one claim at most. */
const batch = 32;
/** Jobs under way at once of all kinds that no group of their own names. */
const atOnceOfOthers = 32;

/** Wait before the next try of a job that failed, in milliseconds: 1 s, doubling, up to an hour. */
function backoffMs(attempt: number): number {
  return Math.min(1000 * 2 ** (attempt - 1), 3_600_000);
}

/** These waits after the first failure, the second and so on; the last one holds for all further ones. */
export const jobRetryMs: readonly number[] = Array.from({ length: 13 }, (_, index) => backoffMs(index + 1));

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

/** Kinds of jobs that share a bound. Jobs of one group never wait for those of another. */
export interface JobGroup {
  readonly kinds: readonly string[];
  /** Jobs of these kinds under way at once at most. */
  readonly atOnce: number;
}

/**
 * Creates a worker; it does nothing before `start` or `runDue`. A job under way holds one place of its group and nothing else: the
 * worker claims more jobs as long as there are places, whether or not those before have ended.
 *
 * @param groups - bounds of their own; kinds that no group names share one bound
 * @param abort - cuts off the outgoing requests of jobs, when `stop` has waited for them
 */
export function createWorker(
  core: Core,
  handlers: JobHandlers,
  {
    groups = [],
    abort = () => {},
    schedule = nodeTimer,
  }: {
    readonly groups?: readonly JobGroup[];
    readonly abort?: () => void;
    readonly schedule?: Schedule;
  } = {},
): Worker {
  const { clock, random } = core;
  const { queue } = core.storage;
  const { logger } = core.options;
  const run = jobRunner(core, handlers);
  const grouped = new Set(groups.flatMap(({ kinds }) => kinds));
  const others = Object.keys(handlers).filter((kind) => !grouped.has(kind));
  const queues = [...groups, { kinds: others, atOnce: atOnceOfOthers }]
    .filter(({ kinds }) => kinds.length > 0)
    .map((group) => ({ ...group, underWay: new Set<Promise<void>>() }));

  function begin(job: ClaimedJob, { atOnce, underWay }: (typeof queues)[number]): void {
    const end = run(job)
      .catch((error: unknown) =>
        logger.warn({ err: error, job: job.id }, 'what came of a job could not be stored'),
      )
      .finally(() => {
        underWay.delete(end);
        // A full group is claimed for again when a quarter of it is free, so that claims stay large.
        if (atOnce - underWay.size === Math.ceil(atOnce / 4)) polling.wake();
      });
    underWay.add(end);
  }

  /** Claims jobs of some groups, at most `limit`, and begins them. */
  async function claimFor(some: typeof queues, limit: number): Promise<Found> {
    const jobs = await queue.claim({
      kinds: some.flatMap(({ kinds }) => kinds),
      claimId: random.bytes(16).toString('hex'),
      now: clock.now(),
      leaseMs,
      limit,
    });
    for (const job of jobs) {
      const group = some.find(({ kinds }) => kinds.includes(job.kind));
      if (group !== undefined) begin(job, group);
    }
    return { claimed: jobs.length, isCutOff: jobs.length === limit };
  }

  /**
   * Claims for all groups that have places. Groups with places for a whole batch share one claim, so that an idle worker makes one
   * statement; a group with fewer places has a claim of its own.
   */
  async function claimForAll(): Promise<Found> {
    const places = ({ atOnce, underWay }: (typeof queues)[number]) => atOnce - underWay.size;
    const roomy = queues.filter((group) => places(group) >= batch);
    const narrow = queues.filter((group) => places(group) > 0 && places(group) < batch);
    const found = await Promise.all([
      ...(roomy.length > 0 ? [claimFor(roomy, batch)] : []),
      ...narrow.map((group) => claimFor([group], places(group))),
    ]);
    return {
      claimed: found.reduce((total, { claimed }) => total + claimed, 0),
      isCutOff: found.some(({ isCutOff }) => isCutOff),
    };
  }

  async function untilAllEnded(): Promise<void> {
    await Promise.all(queues.flatMap(({ underWay }) => [...underWay]));
  }

  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'the queue cannot be read; it is tried again',
    working: 'the queue can be read again',
  });
  const polling = createLooking({ look: claimForAll, outages, schedule });

  return {
    start: polling.start,
    wake: polling.wake,
    async runDue() {
      const { claimed } = await claimForAll();
      await untilAllEnded();
      return claimed;
    },
    async stop() {
      await polling.stop();
      if (queues.every(({ underWay }) => underWay.size === 0)) return;
      const callOff = schedule(abort, stopGraceMs);
      await untilAllEnded();
      callOff();
    },
  };
}
