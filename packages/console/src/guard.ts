import type {
  ConsoleAnswer,
  ConsoleBackend,
  ConsoleHandler,
  ConsoleRequest,
  ConsoleVisit,
} from '@ostiary/core/console';
import { apiOf } from './api.ts';
import { asksForStream, createLiveStreams, endedStream, type paceOf } from './live-stream.ts';
import type { UrlOf } from './paths.ts';
import { sessionCookie } from './session-cookie.ts';
import { signIn, strangers } from './sign-in.ts';
import { type PageContext, seeOther, type Visit } from './visit.ts';
import { isNotice, voiceOf } from './words.ts';

/**
 * Maximum number of session cookies that are checked per request: an attacker may have planted cookies beside
 * the console's cookie.
 */
const mostSessions = 8;

type Otherwise = (context: PageContext) => ConsoleAnswer;

/**
 * Makes the wrappers that let only visitors with a session use pages. `assets` are the URLs of the pages'
 * script and style sheet.
 */
export function createGuard(
  backend: ConsoleBackend,
  urlOf: UrlOf,
  assets: Pick<PageContext, 'script' | 'style'>,
  pace: typeof paceOf,
) {
  const cookie = sessionCookie(backend);
  const keepUpToDate = createLiveStreams(backend, pace);

  async function contextOf(request: ConsoleRequest, visitor: string): Promise<PageContext> {
    const notice = request.query.get('notice');
    return {
      backend,
      urlOf,
      request,
      voice: await voiceOf(request.raw.headers['accept-language']),
      notice: isNotice(notice) ? notice : null,
      csrf: backend.proof(visitor),
      ...assets,
    };
  }

  const sessionsIn = (request: ConsoleRequest): string[] => cookie.values(request).slice(0, mostSessions);

  /**
   * Wraps a page's handler: visitors with a valid session get the page, and pages that are open in a browser
   * get their updates. For an invalid session the cookie is removed and the response is `otherwise`, by
   * default a redirect to the first page.
   */
  const guarded =
    (
      handle: (visit: Visit, session: string) => Promise<ConsoleAnswer>,
      otherwise: Otherwise = ({ notice }) => seeOther(urlOf('home', { notice })),
    ): ConsoleHandler =>
    async (request) => {
      const sessions = sessionsIn(request);
      for (const session of sessions) {
        const opened = await backend.visit(session, request);
        if (opened === null) continue;
        const context = await contextOf(request, session);
        const { id = '' } = request.parameters;
        const render = (visit: ConsoleVisit) =>
          handle({ ...context, partner: visit.partner, api: apiOf(visit), id }, session);
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
  const action = (
    handle: (visit: Visit, form: ReadonlyMap<string, string>, session: string) => Promise<ConsoleAnswer>,
  ): ConsoleHandler =>
    guarded(async (visit, session) => handle(visit, await backend.form(visit.request, session), session));

  return {
    guarded,
    action,
    signIn: async (request: ConsoleRequest) => signIn(await contextOf(request, strangers), cookie),
    signOut: action(({ request }) => end(request, seeOther(urlOf('home', { notice: 'signed_out' })))),
  };
}
