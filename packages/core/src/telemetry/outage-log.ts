import { isStorageFailure } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from './logger.ts';

/** Time from one line about an outage to the next, in milliseconds: the first, twice as long each time, at most the last. */
const intervalMs = { first: 60_000, last: 3_600_000 };

/** Lines about work that fails again and again while the storage is away. */
export interface OutageLog {
  /** Notes that the work failed. Logs the first failure at once, and further ones at growing intervals. */
  failed(error: unknown, fields?: object): void;
  /** Notes that the work succeeded, and logs the end of an outage. */
  succeeded(): void;
}

/**
 * Logs an outage at its beginning, at growing intervals while it lasts, and at its end. A storage that is away is one sentence with the
 * reason. The stack of any other error is logged too, because it is a bug.
 *
 * @param failing - message of the warnings
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
