import type { Core } from '../options/context.ts';
import type { FailingEndpoint, Waiting } from '../ports/survey.ts';
import { iso } from '../time/clock.ts';

/** More than that is not counted. */
const countedAtMost = 10_000;

const endpointsAtMost = 20;

const dayMs = 24 * 3_600_000;

/** Workers poll every second. Work that waits for longer lacks a worker. */
const lateMs = 60_000;

/** Work that is due and not claimed. */
export interface WaitingWork {
  /** At most 10,000. */
  readonly count: number;
  /** Due time of the oldest work, ISO 8601; `null` if none waits. */
  readonly oldestDueAt: string | null;
  /** True if it has waited for more than a minute. Then there is no worker, or it cannot keep up. */
  readonly late: boolean;
}

/** State of the service according to its database. Each count stops at 10,000. */
export interface Health {
  /** ISO 8601. */
  readonly at: string;
  readonly jobs: WaitingWork;
  readonly deliveries: WaitingWork;
  /** Jobs that failed and are tried again. */
  readonly failingJobs: number;
  /** Deliveries that were given up within a day, to endpoints that there are. */
  readonly dropped: number;
  /** The endpoints, at most 20, of those deliveries: most of them first. */
  readonly failingEndpoints: readonly FailingEndpoint[];
  readonly sealing: {
    /** Name of the first sealing key, which reveals nothing about the key. */
    readonly keyId: string;
    /** Secrets in use that another key has sealed. Removing that key loses them. */
    readonly sealedOtherwise: number;
  };
}

/** Reads {@link Health} with one call of the storage. */
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
