import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { JobHandler, NewJob } from '../ports/queue.ts';
import type { OwnerName } from '../ports/shares.ts';
import type { Authentication } from '../ports/users.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { clockToleranceMs, wholeMs } from '../time/clock.ts';
import { isEnabled } from './client.ts';
import { sessionIdOf } from './host-login.ts';
import { signForClient } from './id-token.ts';

/** Kind of the job that notifies one client of a sign-out. */
export const signOutKind = 'sign-out';

/**
 * Lifetime of a logout token in seconds, at most two minutes (OpenID Connect Back-Channel Logout 1.0, section
 * 2.4).
 */
const logoutTokenSeconds = 120;

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Posts a form to a URL of a client. Resolves with whether the client accepted it, or with `null` if too many
 * requests to the client's server are running and nothing was sent. Never rejects.
 * @param owner - partner and mode whose share of places the request uses
 */
export type PostForm = (form: {
  readonly url: string;
  readonly body: string;
  readonly owner: OwnerName;
}) => Promise<{
  readonly ok: boolean;
  readonly error: string | null;
  readonly httpStatus: number | null;
} | null>;

export type SignOuts = ReturnType<typeof createSignOuts>;

/** Creates the functions that notify a user's apps of a sign-out. */
export function createSignOuts({ storage, clock, random, notifyWorkers, options: { logger } }: Core) {
  /**
   * Creates the job that notifies one client of a sign-out. The job's id is new, because an earlier sign-out
   * of the same user may still be in the queue.
   */
  const jobOf = (sub: string, sid: string | null, { clientId, partner }: ClientRecord): NewJob => ({
    id: `${signOutKind}:${random.bytes(16).toString('base64url')}`,
    kind: signOutKind,
    payload: { sub, sid, clientId, since: clock.now() },
    dueAt: clock.now(),
    // A client without a partner has its own share of the worker.
    owner: `live:${partner ?? `client ${clientId}`}`,
  });

  /** Creates sign-out jobs for all clients that have the user's consent and a `backchannelLogoutUri`. */
  async function jobsFor(sub: string, sid: string | null): Promise<NewJob[]> {
    const consents = await storage.consents.list(sub);
    const clients = await Promise.all(consents.map(({ clientId }) => storage.clients.find(clientId)));
    return clients.flatMap((client) => (client?.backchannelLogoutUri ? [jobOf(sub, sid, client)] : []));
  }

  function logUnnotified(err: unknown): void {
    logger.error({ err }, 'the apps of a user who signed out could not be notified');
  }

  /**
   * Creates the sign-out jobs. If the clients cannot be read, logs that and returns none, because a sign-out
   * must not fail for its notifications.
   */
  async function jobsOrNone(sub: string, sid: string | null): Promise<NewJob[]> {
    try {
      return await jobsFor(sub, sid);
    } catch (error) {
      logUnnotified(error);
      return [];
    }
  }

  async function store(jobs: readonly NewJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await storage.queue.enqueue(jobs);
    notifyWorkers('jobs');
  }

  return {
    /**
     * Notifies the user's apps that one session ended, or all sessions if `session` is missing. Rejects if
     * the apps cannot be read or the jobs cannot be stored.
     */
    async tell(sub: string, session?: Omit<Authentication, 'sub'>): Promise<void> {
      requireUserId(sub);
      await store(await jobsFor(sub, session === undefined ? null : sessionIdOf({ sub, ...session })));
    },

    /**
     * Returns the jobs that notify a user's apps that all sessions ended. If the apps cannot be read, logs
     * that and returns none.
     */
    ofAllSessions: (sub: string): Promise<readonly NewJob[]> => jobsOrNone(sub, null),

    /**
     * Ends one session of the user at the host application, and notifies the apps afterwards. If the apps
     * cannot be notified, logs that and ends the session anyway.
     */
    async around(user: Authentication, end: () => Promise<void>): Promise<void> {
      const jobs = await jobsOrNone(user.sub, sessionIdOf(user));
      await end();
      await store(jobs).catch(logUnnotified);
    },
  };
}

/**
 * Signs a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.4).
 * @param sid - id of the session that ended; `null` if all sessions of the user ended. The token then has `sub` alone,
 * which section 2.4 defines as the end of every session of the user at the client
 */
function signLogoutToken(core: Core, client: ClientRecord, sub: string, sid: string | null): Promise<string> {
  const now = core.clock.now();
  const issuedAt = Math.floor(now / 1000);
  const claims = {
    iss: core.options.issuer,
    ...{ sub, aud: client.clientId, iat: issuedAt, exp: issuedAt + logoutTokenSeconds },
    jti: core.random.bytes(16).toString('base64url'),
    events: { [logoutEvent]: {} },
    ...(sid !== null && { sid }),
  };
  return signForClient(core, client, claims, { typ: 'logout+jwt', now });
}

/** Returns the longest wait of a sign-out job before its next attempt, in milliseconds. */
export const longestSignOutWaitMs = ({ webhooks }: Core['options']): number =>
  wholeMs(Math.max(60, ...webhooks.retryDelaysSeconds));

/**
 * Returns the time of the next attempt after a client did not accept the sign-out notification; `null` if
 * there is none. The waits are those of webhooks, counted from the sign-out. If the sign-out is in the
 * future, because the clock was set back, they count from now, by the number of attempts.
 */
function nextTry(
  delaysSeconds: readonly number[],
  { since, now, attempt }: { readonly since: number; readonly now: number; readonly attempt: number },
): number | null {
  if (since > now + clockToleranceMs) {
    const seconds = delaysSeconds[attempt - 1];
    return seconds === undefined ? null : now + wholeMs(seconds);
  }
  let at = since;
  for (const seconds of delaysSeconds) {
    at += wholeMs(seconds);
    if (at > now) return at;
  }
  return null;
}

/**
 * Maximum number of concurrent sign-out notifications of one client in one process, so that a client that
 * does not respond delays no other client.
 */
const mostOfOne = 8;

/** Longest wait of a notification whose client or server is busy with others, in milliseconds. */
const longestBusyMs = 60_000;

/**
 * Returns the wait before the next attempt if a client or a server is busy with other notifications, in
 * milliseconds. Only for a client that has not answered yet: one that answers takes notifications in turn.
 */
const busyWaitMs = (attempt: number): number => Math.min(1000 * 2 ** (attempt - 1), longestBusyMs);

/** Shortest time between two notifications that wait for their turn, in milliseconds. */
const shortestTurnMs = 5;

/**
 * Maximum number of clients whose speed this process remembers. Beyond it, the process forgets all clients to
 * which it sends nothing now.
 */
const mostLines = 1_000;

/** Notifications of one client in this process. */
interface Line {
  /** Times at which the running notifications began, oldest first. */
  readonly running: Set<{ readonly startedAt: number }>;
  /** Mean duration of a notification, in milliseconds; `null` as long as none has ended. */
  meanMs: number | null;
  /** Time of the latest turn that was given to a waiting notification. */
  lastTurn: number;
}

/**
 * Returns the time of the next turn of a client. A client gets as many turns in a second as it answers
 * notifications. Without turns, all waiting notifications would come back at the same moment, and find the
 * client busy again.
 */
function nextTurn(line: Line, now: number, attempt: number): number {
  if (line.meanMs === null) return now + busyWaitMs(attempt);
  // The clock may have been set back.
  const latest = Math.min(Math.max(line.lastTurn, now), now + longestBusyMs);
  // A client that answered quickly may hang now. The age of a running notification shows that before its time-out.
  const [oldest] = line.running;
  const answerMs = Math.max(line.meanMs, oldest === undefined ? 0 : now - oldest.startedAt);
  line.lastTurn = Math.min(latest + Math.max(answerMs / mostOfOne, shortestTurnMs), now + longestBusyMs);
  return Math.ceil(line.lastTurn);
}

/** A sign-out notification for one client. */
interface Notice {
  readonly sub: string;
  readonly sid: string | null;
  readonly owner: OwnerName;
}

/**
 * Creates the job handler that notifies one client of a sign-out, with the waits of webhooks between
 * attempts.
 */
export function signOutHandler(core: Core, post: PostForm): JobHandler {
  const { storage, clock, options } = core;
  const lines = new Map<string, Line>();

  /** Keeps the line of a client also while none of its notifications runs: waiting ones come back later. */
  function remember(id: string, line: Line): void {
    if (lines.size >= mostLines && !lines.has(id))
      for (const [other, { running }] of lines) if (running.size === 0) lines.delete(other);
    lines.set(id, line);
  }

  async function call(clientId: string, { sub, sid, owner }: Notice) {
    const client = await storage.clients.find(clientId);
    if (!isEnabled(client) || !client.backchannelLogoutUri) return 'not wanted';
    const token = await signLogoutToken(core, client, sub, sid);
    return post({ url: client.backchannelLogoutUri, body: `logout_token=${token}`, owner });
  }

  return async ({ sub, sid, clientId, since }, { attempt, owner }) => {
    const id = String(clientId);
    const line = lines.get(id) ?? { running: new Set(), meanMs: null, lastTurn: 0 };
    const startedAt = clock.now();
    if (line.running.size >= mostOfOne) return { dueAt: nextTurn(line, startedAt, attempt) };
    remember(id, line);
    const run = { startedAt };
    line.running.add(run);
    const notice = { sub: String(sub), sid: typeof sid === 'string' ? sid : null, owner };
    const answer = await call(id, notice).finally(() => {
      line.running.delete(run);
    });
    if (answer === null) return { dueAt: nextTurn(line, clock.now(), attempt) };
    const tookMs = Math.max(0, clock.now() - startedAt);
    line.meanMs = line.meanMs === null ? tookMs : (3 * line.meanMs + tookMs) / 4;
    if (answer === 'not wanted' || answer.ok) return null;
    const { error, httpStatus } = answer;
    // Stopped: it is unknown what the client received.
    if (error === 'aborted') return { dueAt: clock.now() };
    const tried = { since: Number(since), now: clock.now(), attempt };
    const dueAt = nextTry(options.webhooks.retryDelaysSeconds, tried);
    const fields = { client: id, error, httpStatus };
    if (dueAt === null) {
      options.logger.warn(
        fields,
        'a client could not be notified that a user signed out; it is not tried again',
      );
      return null;
    }
    options.logger.info(fields, 'a client could not be notified that a user signed out; it is tried again');
    return { dueAt };
  };
}
