import type { Core } from '../options/context.ts';
import type { DueNotices, EndingKey, Notice, NoticedEndpoint, NoticeReason } from '../ports/notices.ts';
import type { JobHandler } from '../ports/queue.ts';
import { iso } from '../time/clock.ts';
import { jobsLeftToOthers, noticeJobs } from './job.ts';

/**
 * Kind of the job that searches for endpoints and keys of which a notice is due. All processes share one such
 * job.
 */
export const noticeSearchKind = 'notice search';

/** Time between two searches for due notices, in milliseconds. */
export const noticeSearchMs = 60_000;

const [hourMs, dayMs] = [3_600_000, 24 * 3_600_000];

/** Duration of an endpoint's failure after which a notice is due, in milliseconds. */
const failingMs = hourMs;

/** Maximum age of a dropped delivery or a failed attempt for which a notice is due, in milliseconds. */
const recentMs = dayMs;

/** Time without a failed attempt after which an endpoint counts as working again, in milliseconds. */
const quietMs = 5 * 60_000;

/** Time before the expiry of an API key at which a notice is due, in milliseconds. */
const keyEndingMs = 14 * dayMs;

/** Maximum number of notices of each kind in one search. The next search finds the rest. */
const batch = 100;

/**
 * Enqueues the job that searches for due notices, unless the job exists. Does nothing without the option
 * `notify`.
 */
export async function scheduleNoticeSearch({ storage, clock, options }: Core): Promise<void> {
  if (options.notify === undefined) return;
  const job = { id: noticeSearchKind, kind: noticeSearchKind, payload: {}, dueAt: clock.now() };
  await storage.queue.enqueue([job]);
}

const endpointTypes = {
  failing: 'endpoint.failing',
  givenUp: 'endpoint.given_up',
  works: 'endpoint.works',
} as const;

function endpointNotice(reason: keyof typeof endpointTypes, endpoint: NoticedEndpoint, now: number): Notice {
  const { partner, partnerName, mode, endpointId, url, since, lastFailure } = endpoint;
  const type = endpointTypes[reason];
  const common = {
    id: `${type}:${endpointId}:${now}`,
    at: iso(now),
    ...{ partner, partnerName, mode, endpointId },
    host: new URL(url).hostname,
    lastFailure: { ...lastFailure, at: iso(lastFailure.at) },
  };
  return type === 'endpoint.failing'
    ? { ...common, type, since: iso(since ?? lastFailure.at) }
    : { ...common, type };
}

function keyNotice({ partner, partnerName, mode, keyId, name, expiresAt }: EndingKey, now: number): Notice {
  return {
    id: `api_key.ending:${keyId}`,
    type: 'api_key.ending',
    at: iso(now),
    ...{ partner, partnerName, mode, keyId },
    keyName: name,
    expiresAt: iso(expiresAt),
  };
}

/** Lists the notices to make, with the endpoint or API key of each notice. */
function noticesOf(due: DueNotices, now: number) {
  const endpoints = (['failing', 'givenUp', 'works'] as const).flatMap((reason) =>
    due[reason].map((endpoint) => ({
      ...{ reason, subject: endpoint.endpointId },
      notice: endpointNotice(reason, endpoint, now),
    })),
  );
  const reason: NoticeReason = 'endingKeys';
  const keys = due.endingKeys.map((key) => ({ reason, subject: key.keyId, notice: keyNotice(key, now) }));
  return [...endpoints, ...keys];
}

/**
 * Searches for endpoints and keys of which a notice is due, and enqueues the notices. Returns the number of
 * notices.
 */
async function enqueueDueNotices(core: Core): Promise<number> {
  const { storage, clock } = core;
  const now = clock.now();
  const due = await storage.notices.due({
    now,
    failingSince: now - failingMs,
    recentSince: now - recentMs,
    quietSince: now - quietMs,
    keysUntil: now + keyEndingMs,
    limit: batch,
  });
  let enqueued = 0;
  for (const { reason, subject, notice } of noticesOf(due, now)) {
    for (const job of noticeJobs(core, notice)) {
      if (await storage.notices.record(reason, subject, now, job)) enqueued += 1;
    }
  }
  return enqueued;
}

/** Creates the job handler that searches for due notices every minute. */
export function noticeSearchHandler(core: Core): JobHandler {
  const { clock, notifyWorkers, options } = core;
  if (options.notify === undefined) return jobsLeftToOthers(core);
  return async () => {
    try {
      if ((await enqueueDueNotices(core)) > 0) notifyWorkers('jobs');
    } catch (err) {
      // Not thrown: the worker would wait for up to an hour, by the number of earlier runs.
      options.logger.warn({ err }, 'the search for notices failed; it is tried again in a minute');
    }
    return { dueAt: clock.now() + noticeSearchMs };
  };
}
