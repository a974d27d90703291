import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import type { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Mode } from '../ports/partners.ts';
import type { LoggedRequest } from '../ports/request-log.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import type { PartnerCall } from './pipeline/pipeline.ts';
import { bodyRedaction } from './redaction.ts';

/** Requests that are kept of each partner and mode. */
const mostOfPartner = 5_000;

/** Number of waiting requests of a process beyond which further requests are not logged. */
const mostWaiting = 1_000;

/** Stored in one call: a commit to the disk costs as much for one as for all of them. */
const batch = 500;

/**
 * Between two calls while requests wait: a process stores a thousand requests in a second at most, and spends little on it when there
 * are more.
 */
const pauseMs = 500;

type Failure = Pick<PartnerError, 'code'> & Partial<Pick<PartnerError, 'details'>>;

/** Returns the body of an error, as `answerPartnerError` writes it. */
function failureOf({ body }: Context): Failure | null {
  const isFailure = typeof body === 'object' && body !== null && 'code' in body;
  return isFailure ? (body as Failure) : null;
}

export type RequestNotes = ReturnType<typeof requestNotes>;

/**
 * Notes requests for the people of a partner. It is done when the answer has gone, in the background: a request neither waits nor
 * fails for it, and what cannot be stored in time is lost.
 */
export function requestNotes({ storage, options: { prefix, requestLog, logger }, clock }: Core) {
  const redacted = bodyRedaction(prefix);
  const waiting: LoggedRequest[] = [];
  let writing: Promise<void> | null = null;
  let lost = 0;
  const closing = new AbortController();

  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'requests could not be logged',
    working: 'requests can be logged again',
  });

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const requests = waiting.splice(0, batch);
      try {
        await storage.requestLog.append(requests, mostOfPartner);
        outages.succeeded();
      } catch (error) {
        outages.failed(error, { requests: requests.length });
      }
      if (waiting.length > 0)
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    if (lost > 0) logger.warn({ requests: lost }, 'requests were not logged: there were too many at once');
    lost = 0;
    writing = null;
  }

  function add(request: LoggedRequest): void {
    waiting.push(request);
    writing ??= write();
  }

  /** Returns the bodies of a test request; those of live ones are not kept. */
  function bodiesOf(ctx: Context, mode: Mode, sent: Buffer | null) {
    if (mode === 'live') return { sent: null, answered: null };
    const written: string | undefined = ctx.state.answered;
    const failure = failureOf(ctx);
    const answer = written ?? (failure === null ? null : JSON.stringify(failure));
    const blamed = failure?.details?.map(({ path }) => path);
    return {
      sent: sent === null || sent.length === 0 ? null : redacted(sent.toString('utf8'), blamed),
      answered: answer === null ? null : redacted(answer),
    };
  }

  return {
    /** Notes a request once its response has gone, if its key was found and requests of its mode are logged. */
    note(ctx: Context, call: PartnerCall): void {
      if (requestLog === 'off') return;
      ctx.res.once('close', () => {
        const { key, bytes, now } = call;
        if (key === null || (key.mode === 'live' && requestLog !== 'all')) return;
        if (waiting.length >= mostWaiting) {
          lost += 1;
          return;
        }
        add({
          id: ctx.state.headers['X-Request-Id'],
          ...{ partner: key.partner, mode: key.mode, keyId: key.id },
          createdAt: now,
          durationMs: Math.max(0, clock.now() - now),
          ...{ method: ctx.method, route: ctx.state.route, status: ctx.status },
          code: failureOf(ctx)?.code ?? null,
          ...bodiesOf(ctx, key.mode, bytes),
        });
      });
    },

    /** Stores what was noted, and resolves when it is; for the end. */
    async settled(): Promise<void> {
      closing.abort();
      await writing;
    },
  };
}
