import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import type { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Mode } from '../ports/partners.ts';
import type { LoggedRequest } from '../ports/request-log.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import type { PartnerCall } from './pipeline/pipeline.ts';
import { bodyRedaction } from './redaction.ts';

/** Maximum number of logged requests that are stored for each partner and mode. Older ones are removed. */
const mostOfPartner = 5_000;

/**
 * Maximum number of requests that wait to be stored in the log. If there are more, a process logs no further
 * requests.
 */
const mostWaiting = 1_000;

/**
 * Maximum number of logged requests that are stored in one call: one commit to the disk costs the same for
 * one request and for many.
 */
const batch = 500;

/**
 * Pause between two calls that store logged requests, in milliseconds. It limits a process to a thousand
 * requests per second, so that the log costs little under heavy load.
 */
const pauseMs = 500;

type Failure = Pick<PartnerError, 'code'> & Partial<Pick<PartnerError, 'details'>>;

/** Returns the error in a response that `answerPartnerError` wrote; `null` if the response is no error. */
function failureOf({ body }: Context): Failure | null {
  const isFailure = typeof body === 'object' && body !== null && 'code' in body;
  return isFailure ? (body as Failure) : null;
}

export type RequestNotes = ReturnType<typeof requestNotes>;

/**
 * Creates the request log's writer. It stores requests in the background after their response was sent: a
 * request neither waits nor fails for it, and requests that cannot be stored in time are lost.
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

  /** Returns the bodies of a request in test mode for the log; `null` for live requests. */
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
    /**
     * Logs a request after its response was sent, if its API key was found and requests of the key's mode are
     * logged.
     */
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

    /** Resolves when all waiting requests are stored in the log or lost. Called when the service closes. */
    async settled(): Promise<void> {
      closing.abort();
      await writing;
    },
  };
}
