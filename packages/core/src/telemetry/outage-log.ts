import { isStorageFailure } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from './logger.ts';

/**
 * Time between log lines about one outage, in milliseconds: `first`, then doubled each time, up to `last`.
 */
const intervalMs = { first: 60_000, last: 3_600_000 };

/** Logs failures of repeated work during an outage of the storage, without a line for each failure. */
export interface OutageLog {
  /** Records that the work failed. Logs the first failure at once, and further ones at growing intervals. */
  failed(error: unknown, fields?: object): void;
  /** Records that the work succeeded, and logs the end of an outage. */
  succeeded(): void;
}

/**
 * Creates a log of outages: one line at the beginning, more at growing intervals, one at the end. For an
 * unreachable storage a line contains only the reason. For any other error, which is a bug, it contains the
 * stack too.
 *
 * @param failing - message of the warnings during an outage
 * @param working - message at the end of an outage
 */
export function createOutageLog({
  logger,
  clock,
  failing,
  working,
}: {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly failing: string;
  readonly working: string;
}): OutageLog {
  let failures = 0;
  let beganAt = 0;
  let nextAt = 0;
  let waitMs = intervalMs.first;

  const outage = () => ({ failures, seconds: Math.max(0, Math.round((clock.now() - beganAt) / 1000)) });

  return {
    failed(error, fields = {}) {
      const now = clock.now();
      failures += 1;
      if (failures === 1) {
        beganAt = now;
        waitMs = intervalMs.first;
      } else if (now < nextAt) return;
      else waitMs = Math.min(2 * waitMs, intervalMs.last);
      nextAt = now + waitMs;
      const reason = isStorageFailure(error) ? { reason: error.message } : { err: error };
      logger.warn({ ...fields, ...reason, ...(failures > 1 && outage()) }, failing);
    },
    succeeded() {
      if (failures === 0) return;
      logger.info(outage(), working);
      failures = 0;
    },
  };
}
