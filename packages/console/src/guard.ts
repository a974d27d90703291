import {
  type ConsoleAnswer,
  type ConsoleHandler,
  type ConsoleRequest,
  type ConsoleVisit,
  PartnerError,
} from '@ostiary/core/console';
import { apiOf } from './api.ts';
import { asksForStream, createLiveStreams, endedStream, type paceOf } from './live-stream.ts';
import type { PageAssets } from './page-assets.ts';
import { urlsOf } from './paths.ts';
import { sessionCookie } from './session-cookie.ts';
import { type PageBackend, type PageContext, seeOther, type Visit } from './visit.ts';
import { isNotice, voiceOf } from './words.ts';

/**
 * Maximum number of session cookies that are checked per request: an attacker may have planted cookies beside
 * the console's cookie.
 */
const mostSessions = 8;

type Otherwise = (context: PageContext) => ConsoleAnswer;

/** Handler that shows a page of the console. */
export type Show = (visit: Visit, session: string) => Promise<ConsoleAnswer>;

/** Handler of a form that was sent from a page of the console. */
export type Do = (visit: Visit, form: ReadonlyMap<string, string>, session: string) => Promise<ConsoleAnswer>;

/** Name to which the CSRF tokens of visitors without a session are bound. */
export const strangers = 'sign-in';

/** Functions that wrap page handlers and let only visitors with a session through. */
export type Guard = ReturnType<typeof createGuard>;

/**
 * Makes the functions that let only visitors with a session use the console pages of a mode (test or live).
 */
export function createGuard(
  backend: PageBackend,
  mode: Visit['mode'],
  { script, style }: PageAssets,
  pace: typeof paceOf,
) {
  const urlOf = urlsOf(backend, mode);
  const cookie = sessionCookie(backend, mode);
  const keepUpToDate = createLiveStreams(backend, pace);

  async function contextOf(request: ConsoleRequest, visitor: string): Promise<PageContext> {
    const notice = request.query.get('notice');
    return {
      ...{ backend, mode, urlOf, request },
      voice: await voiceOf(request.raw.headers['accept-language']),
      notice: isNotice(notice) ? notice : null,
      csrf: backend.proof(visitor),
      script: urlOf('script', { v: script.version }),
      style: urlOf('style', { v: style.version }),
    };
  }

  const sessionsIn = (request: ConsoleRequest): string[] => cookie.values(request).slice(0, mostSessions);

  /**
   * Wraps a page's handler: visitors with a valid session get the page, and pages that are open in a browser
   * get their updates. Without a valid session the response is `otherwise`, by default a redirect to the first
   * page, and the cookie of an invalid session is removed.
   */
  const guarded =
    (
      handle: Show,
      otherwise: Otherwise = ({ notice }) => seeOther(urlOf('home', { notice })),
    ): ConsoleHandler =>
    async (request) => {
      const sessions = sessionsIn(request);
      for (const session of sessions) {
        const opened = await backend.visit(session, request);
        if (opened === null) continue;
        const context = await contextOf(request, session);
        const { id = '' } = request.parameters;
        const render = (visit: ConsoleVisit) => {
          const { partner, mayManage, file } = visit;
          return handle({ ...context, partner, mayManage, file, api: apiOf(visit), id }, session);
        };
        if (asksForStream(request)) return keepUpToDate({ session, request, render }, opened);
        return await render(opened);
      }
      if (asksForStream(request)) return endedStream;
      const stranger = await contextOf(request, strangers);
      return sessions.length === 0
        ? otherwise(stranger)
        : end(request, otherwise({ ...stranger, notice: 'ended' }));
    };

  /**
   * Ends the sessions of a request on the server, and adds headers to the response that remove the cookie.
   */
  async function end(request: ConsoleRequest, answer: ConsoleAnswer): Promise<ConsoleAnswer> {
    for (const session of sessionsIn(request)) await backend.signOut(session);
    return { ...answer, headers: { ...answer.headers, 'Set-Cookie': cookie.forget } };
  }

  /** Wraps the handler of a form: checks first that the form came from this session. */
  const form = (handle: Do): ConsoleHandler =>
    guarded(async (visit, session) => handle(visit, await backend.form(visit.request, session), session));

  /** Wraps the handler of a page that only sessions with the right to change something may open. */
  const managed = (handle: Show): ConsoleHandler =>
    guarded(async (visit, session) => {
      requireManage(visit);
      return handle(visit, session);
    });

  /** Wraps the handler of a form that changes something. */
  const action = (handle: Do): ConsoleHandler =>
    form(async (visit, fields, session) => {
      requireManage(visit);
      return handle(visit, fields, session);
    });

  return {
    ...{ contextOf, guarded, managed, action, cookie, urlOf },
    signOut: form(({ request }) => end(request, seeOther(urlOf('home', { notice: 'signed_out' })))),
  };
}

/** Refuses visitors who may change nothing. @throws PartnerError `insufficient_scope` */
function requireManage({ mayManage }: Visit): void {
  if (!mayManage) throw new PartnerError('insufficient_scope');
}
