import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConsoleAnswer,
  type ConsoleDesk,
  type ConsoleRequest,
  type ConsoleVisit,
  PartnerError,
} from '@ostiary/core/console';
import { createPlaces, type Leave, type Room } from './places.ts';

const room: Room = { partner: 20, process: 500 };

/**
 * Maximum number of renderings per second for open pages in a process. If more pages are open, each is
 * rendered less often.
 */
const pagesPerSecond = 50;

/** Proxies and pages take a connection for broken on which nothing comes for long. */
const heartbeatMs = 15_000;

/** A stream ends after this long and the page opens another one: a load balancer can then move it. */
const lifetimeMs = 5 * 60_000;

/** So many characters of a page take as long to make as any other page; what endpoints answer makes pages of megabytes. */
const usualLength = 128 * 1024;

/** Returns the milliseconds between two checks of a page of this length, while so many are open. */
export const paceOf = (open: number, length: number): number =>
  1_000 * Math.max(1, (open / pagesPerSecond) * Math.max(1, length / usualLength));

/** Messages to an open page: its present content, no change, reload, the session has ended. */
type Message = 'page' | 'still' | 'reload' | 'ended';

const message = (event: Message, data = ''): string =>
  `event: ${event}\n${data
    .split(/\r\n?|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

/** Checks whether an open page requests its updates. */
export const asksForStream = ({ raw: { method, headers } }: ConsoleRequest): boolean =>
  method === 'GET' && headers.accept === 'text/event-stream';

/** A stream that ends an open page's session. A redirect would have no effect there. */
export const endedStream: ConsoleAnswer = {
  status: 200,
  async *stream() {
    yield message('ended');
  },
};

/** A page that is open. */
export interface OpenPage {
  readonly session: string;
  readonly request: ConsoleRequest;
  /** Makes the page as for any other request. */
  render(visit: ConsoleVisit): Promise<ConsoleAnswer>;
}

/**
 * Checks whether a page keeps itself up to date. Values in a page never contain an unescaped quotation mark.
 */
const isLive = (page: string): boolean => page.includes(' data-exit="');

/** Keeps open pages up to date. */
export function createLiveStreams(desk: ConsoleDesk, pace: typeof paceOf) {
  const places = createPlaces(room);

  /** The page as it is now; `null` where loading it would show something else. */
  async function look({ render }: OpenPage, visit: ConsoleVisit) {
    try {
      const { body = '' } = await render(visit);
      return isLive(body) ? body : null;
    } catch (error) {
      if (error instanceof PartnerError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /**
   * Sends the changes of a page, about once a second. Each check is admitted like a request, but not counted
   * as one.
   */
  async function* changes(
    page: OpenPage,
    admitted: ConsoleVisit,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    /** The hash of what was sent last. */
    let sent = '';
    // In either direction: a clock that goes back must not keep a connection silent.
    const since = (time: number) => Math.abs(desk.now() - time);
    const startedAt = desk.now();
    let toldAt = startedAt;
    let visit: ConsoleVisit | null = admitted;
    while (!signal.aborted && since(startedAt) < lifetimeMs) {
      const body = await look(page, visit);
      if (body === null) {
        yield message('reload');
        return;
      }
      const hash = createHash('sha256').update(body).digest('base64');
      const hasChanged = hash !== sent;
      sent = hash;
      if (hasChanged) {
        toldAt = desk.now();
        yield message('page', body);
      }
      for (let left = pace(places.taken(), body.length); left > 0; left -= heartbeatMs) {
        if (since(toldAt) >= heartbeatMs) {
          toldAt = desk.now();
          yield message('still');
        }
        await delay(Math.min(left, heartbeatMs), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        visit = await desk.revisit(page.session, page.request);
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

  /** Answers an admitted visit with the changes of its page, or, where there is no place, with a status that says so. */
  return (page: OpenPage, visit: ConsoleVisit): ConsoleAnswer => {
    const leave = places.take(visit.partner);
    if (typeof leave === 'number') return { status: leave, headers: { 'Retry-After': '30' } };
    return { status: 200, stream: (signal) => seated(leave, page, visit, signal) };
  };
}
