import type { Core } from '../options/context.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Notice } from '../ports/notices.ts';
import type { JobHandler, NewJob } from '../ports/queue.ts';

/** Kind of the job that passes one notice to the option `notify`. */
export const noticeKind = 'notice';

/** Maximum number of notices that one process passes to `notify` at the same time. */
export const noticesAtOnce = 8;

const [minuteMs, hourMs] = [60_000, 3_600_000];

/**
 * Waits after each failure of `notify`, from the first failure on, in milliseconds: almost three days
 * altogether.
 */
export const noticeRetryMs: readonly number[] = [
  ...[1, 5, 30].map((minutes) => minutes * minuteMs),
  ...[2, 6, 12, 24, 24].map((hours) => hours * hourMs),
];

/**
 * Time for which a process without the option `notify` leaves notices to other processes, in milliseconds.
 * The time is longer than a deployment that switches the option on.
 */
const leftToOthersMs = hourMs;

/**
 * Wait until a notice's job is due again after a process without the option `notify` left the job to other
 * processes, in milliseconds.
 */
export const leftWaitMs = 10 * minuteMs;

/** Returns the job that passes a notice to `notify`; returns no job without the option `notify`. */
export function noticeJobs({ clock, options }: Core, notice: Notice): readonly NewJob[] {
  if (options.notify === undefined) return [];
  const { id, partner, mode } = notice;
  return [
    {
      id: `${noticeKind}:${id}`,
      kind: noticeKind,
      payload: { notice: notice as unknown as JsonObject },
      dueAt: clock.now(),
      ...(partner !== null && { owner: `${mode ?? 'live'}:${partner}` as const }),
    },
  ];
}

/**
 * Creates the handler for jobs of notices and of their search in a process without the option `notify`. Such
 * jobs were made before the option was removed, or by a process that has the option. The handler hands jobs
 * back to the queue for an hour after the first of them, and removes jobs after that.
 */
export function jobsLeftToOthers({ clock }: Core): JobHandler {
  let firstAt: number | undefined;
  return async () => {
    const now = clock.now();
    firstAt ??= now;
    return now - firstAt < leftToOthersMs ? { dueAt: now + leftWaitMs } : null;
  };
}

/** Creates the job handler that passes a notice to `notify`, and tries again after a failure. */
export function noticeHandler(core: Core): JobHandler {
  const { clock } = core;
  const { notify, logger } = core.options;
  if (notify === undefined) return jobsLeftToOthers(core);

  return async (payload, { attempt }) => {
    const notice = payload.notice as unknown as Notice;
    const fields = { notice: notice.id, type: notice.type, attempt };
    try {
      await notify(notice);
      return null;
    } catch (err) {
      const waitMs = noticeRetryMs[attempt - 1];
      if (waitMs === undefined) {
        logger.error({ ...fields, err }, 'notify failed for the last time; the notice is dropped');
        return null;
      }
      logger.warn({ ...fields, err }, 'notify failed; the notice is tried again');
      return { dueAt: clock.now() + waitMs };
    }
  };
}
