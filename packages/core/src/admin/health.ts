import type { Core } from '../options/context.ts';
import type { FailingEndpoint, Waiting } from '../ports/survey.ts';
import { iso } from '../time/clock.ts';

/** Number at which counting stops, to keep health checks cheap. */
const countedAtMost = 10_000;

const endpointsAtMost = 20;

const dayMs = 24 * 3_600_000;

/**
 * Time after which waiting work counts as late, in milliseconds. Workers poll every second, so late work
 * lacks a worker.
 */
const lateMs = 60_000;

/** Number and age of work that is due and not claimed. */
export interface WaitingWork {
  /** Number of jobs or deliveries, at most 10,000. */
  readonly count: number;
  /** Due time of the oldest work as ISO 8601; `null` if none waits. */
  readonly oldestDueAt: string | null;
  /** True if the oldest work has waited for more than a minute: no worker runs, or it cannot keep up. */
  readonly late: boolean;
}

/** State of the service as its database shows it. Each count stops at 10,000. */
export interface Health {
  /** Time of the check, ISO 8601. */
  readonly at: string;
  readonly jobs: WaitingWork;
  readonly deliveries: WaitingWork;
  /** Number of jobs that failed and will be tried again. */
  readonly failingJobs: number;
  /** Number of deliveries given up within a day, without those to removed endpoints. */
  readonly dropped: number;
  /** Endpoints with deliveries given up within a day, at most 20, those with most of them first. */
  readonly failingEndpoints: readonly FailingEndpoint[];
  readonly sealing: {
    /** Id of the first sealing key, which reveals nothing about the key. */
    readonly keyId: string;
    /**
     * Number of secrets in use that are encrypted with another key. Removing that key makes them unreadable.
     */
    readonly sealedOtherwise: number;
  };
}

/** Reads the {@link Health} of the service with one storage call. */
export async function healthOf({ storage, clock, sealer }: Core): Promise<Health> {
  const now = clock.now();
  const { jobs, deliveries, failingJobs, failingEndpoints, sealedOtherwise } = await storage.survey({
    now,
    droppedSince: now - dayMs,
    sealedWith: sealer.currentPrefix,
    limit: countedAtMost,
  });
  const shown = ({ count, oldestDueAt }: Waiting): WaitingWork => ({
    count,
    oldestDueAt: oldestDueAt === null ? null : iso(oldestDueAt),
    late: oldestDueAt !== null && now - oldestDueAt > lateMs,
  });
  return {
    at: iso(now),
    jobs: shown(jobs),
    deliveries: shown(deliveries),
    failingJobs,
    dropped: failingEndpoints.reduce((sum, { count }) => sum + count, 0),
    failingEndpoints: failingEndpoints.slice(0, endpointsAtMost),
    sealing: { keyId: sealer.currentKeyId, sealedOtherwise },
  };
}
