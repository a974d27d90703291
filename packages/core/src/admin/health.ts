import type { Core } from '../options/context.ts';
import type { FailingEndpoint, Waiting } from '../ports/survey.ts';
import { iso } from '../time/clock.ts';

/** More than that is not counted. */
const countedAtMost = 10_000;

const endpointsAtMost = 20;

const dayMs = 24 * 3_600_000;

/** Workers look every second: what waits for longer waits for a worker. */
const lateMs = 60_000;

/** Work that is due and that nobody does. */
export interface WaitingWork {
  /** At most 10,000. */
  readonly count: number;
  /** When the oldest of those was due, ISO 8601; `null` where nothing waits. */
  readonly oldestDueAt: string | null;
  /** Whether it has waited for more than a minute: there is no worker, or it does not keep up. */
  readonly late: boolean;
}

/** How the service is, by what is in its database. Of everything at most 10,000 are counted. */
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
    /** Names the first sealing key; tells nothing of it. */
    readonly keyId: string;
    /** Secrets in use that another key has sealed: whoever removes that key loses them. */
    readonly sealedOtherwise: number;
  };
}

/** Reads {@link Health}: one call of the storage, whatever there is. */
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
