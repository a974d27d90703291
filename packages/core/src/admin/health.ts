import type { Core } from '../options/context.ts';
import type { DroppedEndpoint, Waiting } from '../ports/survey.ts';
import type { FailingEndpoint as FailingRow } from '../ports/webhooks.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { iso } from '../time/clock.ts';
import { lateMs, recentMs } from '../webhooks/obstacles.ts';
import { type Shown, shown } from './checked.ts';
import { countHostSecrets } from './host-secrets.ts';

const endpointsAtMost = 20;

/** Number and age of jobs or deliveries that are due but that no worker has claimed. */
export interface WaitingWork {
  /** Number of jobs or deliveries, at most 10,000. */
  readonly count: number;
  /** Due time of the oldest work as ISO 8601; `null` if none waits. */
  readonly oldestDueAt: string | null;
  /** True if the oldest work has waited for more than a minute: no worker runs, or it cannot keep up. */
  readonly late: boolean;
}

/** An endpoint that fails now. Times are ISO 8601. */
export interface FailingEndpoint extends Pick<FailingRow, 'partner' | 'mode' | 'endpointId' | 'url'> {
  /** Number of the endpoint's deliveries that wait for another attempt, at most 10,000. */
  readonly count: number;
  /**
   * Start of the first failed attempt. Since then, the endpoint has accepted nothing, or still fails for some
   * events.
   */
  readonly since: string;
  /**
   * The endpoint's last failed attempt: the HTTP status of the response, or the error if there was no
   * response.
   */
  readonly lastAttempt: Shown<FailingRow['lastAttempt']>;
}

/** State of the service as its database shows it. Each count stops at 10,000. */
export interface Health {
  /** Time of the check, ISO 8601. */
  readonly at: string;
  readonly jobs: WaitingWork;
  readonly deliveries: WaitingWork;
  /** Number of jobs that failed and will be tried again. */
  readonly failingJobs: number;
  /** Number of deliveries that were given up within a day. Leaves out deliveries to removed endpoints. */
  readonly dropped: number;
  /**
   * Endpoints with deliveries that were given up within a day, at most 20, those with most of these
   * deliveries first.
   */
  readonly droppedEndpoints: readonly DroppedEndpoint[];
  /**
   * Number of endpoints that fail now: those whose last attempt failed within a day, or with a delivery that
   * waits for another attempt.
   */
  readonly failing: number;
  /** Endpoints that fail now, at most 20, those that have been failing for the longest time first. */
  readonly failingEndpoints: readonly FailingEndpoint[];
  readonly sealing: {
    /** Id of the first sealing key, which reveals nothing about the key. */
    readonly keyId: string;
    /**
     * Number of secrets in use that are encrypted with another key than the first sealing key, at most 10,000.
     * They become unreadable if that other key is removed. Includes those of the option `hostSecrets`.
     */
    readonly sealedOtherwise: number;
  };
}

/** Returns a failing webhook endpoint in the form that administrators see. */
export const failingView = ({ since, lastAttempt, ...endpoint }: FailingRow): FailingEndpoint => ({
  ...endpoint,
  since: iso(since),
  lastAttempt: shown(lastAttempt),
});

/** Reads the {@link Health} of the service with one storage call, and one call of the host application. */
export async function healthOf(core: Core): Promise<Health> {
  const { storage, clock, sealer } = core;
  const now = clock.now();
  const [survey, ofHost] = await Promise.all([
    storage.survey({
      now,
      droppedSince: now - recentMs,
      sealedWith: sealer.currentPrefix,
      // Counting stops there, to keep health checks cheap.
      limit: countedAtMost,
      shown: endpointsAtMost,
    }),
    countHostSecrets(core),
  ]);
  const { failingJobs, droppedEndpoints, failing, failingEndpoints } = survey;
  const sealedOtherwise = Math.min(survey.sealedOtherwise + ofHost, countedAtMost);
  const work = ({ count, oldestDueAt }: Waiting): WaitingWork => ({
    count,
    oldestDueAt: oldestDueAt === null ? null : iso(oldestDueAt),
    late: oldestDueAt !== null && now - oldestDueAt > lateMs,
  });
  return {
    at: iso(now),
    jobs: work(survey.jobs),
    deliveries: work(survey.deliveries),
    failingJobs,
    dropped: droppedEndpoints.reduce((sum, { count }) => sum + count, 0),
    droppedEndpoints: droppedEndpoints.slice(0, endpointsAtMost),
    failing,
    failingEndpoints: failingEndpoints.map(failingView),
    sealing: { keyId: sealer.currentKeyId, sealedOtherwise },
  };
}
