import type {
  ConsoleAnswer,
  ConsoleDesk,
  ConsoleHandler,
  ConsolePage,
  ConsoleRequest,
  PartnerConsole,
} from '@ostiary/core/console';
import { apiOf } from './api.ts';
import { changeEndpoint, endpoint } from './endpoint.ts';
import { event, redeliver } from './event.ts';
import { home } from './home.ts';
import { liveScript } from './live.ts';
import { addEndpoint, newEndpoint } from './new-endpoint.ts';
import { paths, urlsOf } from './paths.ts';
import { sessionCookie } from './session-cookie.ts';
import { signIn, signInPage, strangers } from './sign-in.ts';
import { editEvent, sendEvent } from './trigger.ts';
import { type PageContext, seeOther, type Visit } from './visit.ts';
import { isNotice, voiceOf } from './words/words.ts';

/** Sessions of one request that are looked up at most: somebody may have planted cookies beside ours. */
const mostSessions = 8;

type Form = ReadonlyMap<string, string>;

/** The console's pages, guarded: nobody who is not signed in gets past the first one. */
function consolePages(desk: ConsoleDesk): ConsolePage[] {
  const urlOf = urlsOf(desk);
  const cookie = sessionCookie(desk);
  const live = liveScript();
  const script = urlOf('script', { v: live.version });

  function contextOf(request: ConsoleRequest, visitor: string): PageContext {
    const notice = request.query.get('notice');
    return {
      desk,
      urlOf,
      request,
      voice: voiceOf(request.raw.headers['accept-language']),
      notice: isNotice(notice) ? notice : null,
      csrf: desk.proof(visitor),
      script,
    };
  }

  const sessionsIn = (request: ConsoleRequest): string[] => cookie.values(request).slice(0, mostSessions);

  /** Opens a page to those whose session is good, and ends whatever else a browser takes for a session. */
  const guarded =
    (
      handle: (visit: Visit, session: string) => Promise<ConsoleAnswer>,
      otherwise = ({ notice }: PageContext) => seeOther(urlOf('home', { notice })),
    ): ConsoleHandler =>
    async (request) => {
      const sessions = sessionsIn(request);
      for (const session of sessions) {
        const opened = await desk.visit(session, request);
        if (opened === null) continue;
        const context = contextOf(request, session);
        const { id = '' } = request.parameters;
        return await handle({ ...context, partner: opened.partner, api: apiOf(opened), id }, session);
      }
      const stranger = contextOf(request, strangers);
      return sessions.length === 0
        ? otherwise(stranger)
        : end(request, otherwise({ ...stranger, notice: 'ended' }));
    };

  /** An answer that ends the sessions of its request, here and in the browser. */
  async function end(request: ConsoleRequest, answer: ConsoleAnswer): Promise<ConsoleAnswer> {
    for (const session of sessionsIn(request)) await desk.signOut(session);
    return { ...answer, headers: { ...answer.headers, 'Set-Cookie': cookie.forget } };
  }

  const action = (handle: (visit: Visit, form: Form) => Promise<ConsoleAnswer>): ConsoleHandler =>
    guarded(async (visit, session) => handle(visit, await desk.form(visit.request, session)));

  return [
    {
      path: paths.home,
      summary: 'Sandbox console: endpoints and events of a partner in test mode.',
      GET: guarded(home, signInPage),
    },
    {
      path: paths.signIn,
      summary: 'Signs a partner in to the sandbox console with a test key.',
      POST: (request) => signIn(contextOf(request, strangers), cookie),
    },
    {
      path: paths.signOut,
      summary: 'Signs a partner out of the sandbox console.',
      POST: action(({ request }) => end(request, seeOther(urlOf('home', { notice: 'signed_out' })))),
    },
    {
      path: paths.trigger,
      summary: 'Triggers a test event, with data to edit.',
      GET: guarded(editEvent),
      POST: action(sendEvent),
    },
    {
      path: paths.event,
      summary: 'An event, and its deliveries with every attempt.',
      GET: guarded(event),
    },
    {
      path: paths.redeliver,
      summary: 'Delivers an event again.',
      POST: action(redeliver),
    },
    {
      path: paths.endpoints,
      summary: 'Registers a webhook endpoint in test mode.',
      GET: guarded(newEndpoint),
      POST: action(addEndpoint),
    },
    {
      path: paths.endpoint,
      summary: 'A webhook endpoint, and the deliveries to it; enables, disables or removes it.',
      GET: guarded(endpoint),
      POST: action(changeEndpoint),
    },
    {
      path: paths.script,
      summary: 'What keeps the pages up to date.',
      GET: async () => ({
        status: 200,
        headers: {
          'Content-Type': 'text/javascript; charset=utf-8',
          'Cache-Control': 'public, max-age=31536000, immutable',
        },
        body: live.text,
      }),
    },
  ];
}

/**
 * A page at `{authUrl}/sandbox` on which partners try their webhooks out in test mode: register an endpoint, trigger an
 * event, watch it arrive or fail, read why, send it again. They sign in with a test key that has the scope `webhooks`.
 *
 * @example
 * ```ts
 * const ostiary = await createOstiary({ ...options, payments, console: sandboxConsole() });
 * ```
 */
export function sandboxConsole(): PartnerConsole {
  return { opensWith: { scope: 'webhooks', testOnly: true }, pages: consolePages };
}
