import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConsoleAnswer,
  type ConsoleRequest,
  type ConsoleVisit,
  PartnerError,
} from '@ostiary/core/console';
import { createPlaces, type Leave, type Room } from './places.ts';
import type { PageBackend } from './visit.ts';

const room: Room = { partner: 20, process: 500 };

/**
 * Maximum number of times per second that a process renders open pages of the sandbox console, or of the
 * portal, for updates. If more pages than this are open, each is rendered less than once a second.
 */
const pagesPerSecond = 50;

/**
 * Silence on an update stream after which the next check sends a message, in milliseconds: proxies and pages
 * treat a silent connection as broken. Checks are at most this far apart, so a silence lasts twice as long at
 * most.
 */
const heartbeatMs = 15_000;

/**
 * Maximum lifetime of an update stream, in milliseconds. The page then opens another stream, which a load
 * balancer can send to another process.
 */
const lifetimeMs = 5 * 60_000;

/**
 * Length of a rendered page, in characters, up to which the length does not slow the page's updates. A page
 * that is twice as long is checked as rarely as if twice as many pages were open: long responses of endpoints
 * can make pages of several megabytes.
 */
const usualLength = 128 * 1024;

/**
 * Returns the interval between two checks of an open page for changes, in milliseconds. It grows with the
 * number of open pages and the length of the page.
 */
export const paceOf = (open: number, length: number): number =>
  1_000 * Math.max(1, (open / pagesPerSecond) * Math.max(1, length / usualLength));

/** Kinds of messages to an open page: its new content, no change, reload, or the session has ended. */
type Message = 'page' | 'still' | 'reload' | 'ended';

const message = (event: Message, data = ''): string =>
  `event: ${event}\n${data
    .split(/\r\n?|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

/** Checks whether a request opens a page's update stream. */
export const asksForStream = ({ raw: { method, headers } }: ConsoleRequest): boolean =>
  method === 'GET' && headers.accept === 'text/event-stream';

/** Stream with the message that the session has ended. An update stream cannot be redirected. */
export const endedStream: ConsoleAnswer = {
  status: 200,
  async *stream() {
    yield message('ended');
  },
};

/** A page that is open in a browser and gets updates. */
export interface OpenPage {
  readonly session: string;
  readonly request: ConsoleRequest;
  /** Renders the page as it is now, as for a request that does not open an update stream. */
  render(visit: ConsoleVisit): Promise<ConsoleAnswer>;
}

/**
 * Checks whether a rendered page updates itself, by an attribute that only such pages have. A value in a page
 * cannot look like the attribute, since values never contain an unescaped quotation mark.
 */
const isLive = (page: string): boolean => page.includes(' data-exit="');

/** Makes the function that opens streams with updates for open pages. */
export function createLiveStreams(backend: PageBackend, pace: typeof paceOf) {
  const places = createPlaces(room);

  /**
   * Renders an open page as it is now; `null` if the page must be reloaded, because its content no longer
   * exists or no longer updates itself.
   */
  async function renderPage({ render }: OpenPage, visit: ConsoleVisit) {
    try {
      const { body = '' } = await render(visit);
      return isLive(body) ? body : null;
    } catch (error) {
      if (error instanceof PartnerError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /**
   * Sends the changes of an open page to the browser. Checks for changes about once a second, or less often
   * if many pages are open or the page is long. Each check is authorized like a request, but does not count
   * towards the rate limit.
   */
  async function* changes(
    page: OpenPage,
    admitted: ConsoleVisit,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    /** Hash of the page that was sent last to the browser. */
    let sent = '';
    // Absolute difference: a clock that is set back must not silence a connection.
    const since = (time: number) => Math.abs(backend.now() - time);
    const startedAt = backend.now();
    let toldAt = startedAt;
    let visit: ConsoleVisit | null = admitted;
    while (!signal.aborted && since(startedAt) < lifetimeMs) {
      const body = await renderPage(page, visit);
      if (body === null) {
        yield message('reload');
        return;
      }
      const hash = createHash('sha256').update(body).digest('base64');
      const hasChanged = hash !== sent;
      sent = hash;
      if (hasChanged) {
        toldAt = backend.now();
        yield message('page', body);
      }
      for (let left = pace(places.taken(), body.length); left > 0; left -= heartbeatMs) {
        if (since(toldAt) >= heartbeatMs) {
          toldAt = backend.now();
          yield message('still');
        }
        await delay(Math.min(left, heartbeatMs), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        visit = await backend.revisit(page.session, page.request);
        if (visit === null) {
          yield message('ended');
          return;
        }
      }
    }
  }

  async function* seated(leave: Leave, ...given: Parameters<typeof changes>) {
    try {
      yield* changes(...given);
    } catch (error) {
      // End quietly: on reconnecting, the page gets the API's error.
      if (!(error instanceof PartnerError)) throw error;
    } finally {
      leave();
    }
  }

  /**
   * Responds to an admitted visit with an update stream. Responds with 429 if the partner has too many open
   * pages, and with 503 if the process has too many, each counted in this mode (test or live).
   */
  return (page: OpenPage, visit: ConsoleVisit): ConsoleAnswer => {
    const leave = places.take(visit.partner);
    if (typeof leave === 'number') return { status: leave, headers: { 'Retry-After': '30' } };
    return { status: 200, stream: (signal) => seated(leave, page, visit, signal) };
  };
}
