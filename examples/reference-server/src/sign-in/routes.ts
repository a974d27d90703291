import { fillText, readForm, seeOther } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { allowScript } from '../http/headers.ts';
import { showError } from '../pages/error-page.ts';
import { homePage } from '../pages/home-page.ts';
import { languageOf } from '../pages/layout.ts';
import { loginPage } from '../pages/login-page.ts';
import { texts } from '../pages/texts.ts';
import type { Language } from '../settings.ts';
import type { PasswordOwner } from '../users/accounts.ts';
import { TooBusy } from '../users/passwords.ts';
import type { SignInContext } from './context.ts';
import { hasJustBegun, isSameOrigin } from './csrf.ts';
import { createFormProofs } from './form-proofs.ts';
import { safeReturnTo } from './return-to.ts';
import type { Session } from './sessions.ts';

/**
 * Parameters of the sign-in page, which are not trusted. They have the same names in query and form, except
 * for the handle (`login_hint` in the query).
 */
interface LoginRequest {
  readonly returnTo: string;
  /** Signed parameter that names the requesting app, unchanged. */
  readonly app: string;
  readonly uiLocales: string;
  readonly reauthenticate: boolean;
  readonly handle: string;
}

interface Problem {
  readonly status: number;
  readonly text: (language: Language) => string;
  readonly retryAfterSeconds?: number;
}

const wrong: Problem = { status: 422, text: (language) => texts[language].wrong };

function parseLogin(given: URLSearchParams, handle: string, authUrl: string): LoginRequest {
  return {
    returnTo: safeReturnTo(given.get('return_to') ?? undefined, authUrl),
    app: (given.get('app') ?? '').slice(0, 4_096),
    uiLocales: (given.get('ui_locales') ?? '').slice(0, 200),
    reauthenticate: given.get('reauthenticate') === '1',
    // People write their handle the way it is shown to them.
    handle: (given.get(handle) ?? '').trim().replace(/^@/, '').slice(0, 64),
  };
}

/** Makes the function that checks passwords and limits the attempts to sign in. */
function passwordCheck({ accounts, cookies, browsers, throttle, addressOf }: SignInContext) {
  /** Returns the user with this handle and password, or the problem to show. */
  return async (ctx: Context, handle: string, password: string): Promise<PasswordOwner | Problem> => {
    const browser = browsers.recognise(cookies.known.read(ctx.req), await accounts.passwordOwner(handle));
    const admission = await throttle.admit({ handle, address: addressOf(ctx.req), browser });
    if (!admission.admitted) {
      const { retryAfterSeconds } = admission;
      const minutes = Math.ceil(retryAfterSeconds / 60);
      const text = (language: Language): string => fillText(language, texts[language].throttled, { minutes });
      return { status: 429, text, retryAfterSeconds };
    }
    try {
      const account = await accounts.verify(handle, password, browser === null ? 'others' : 'known');
      await admission.settle(account === null ? 'failed' : 'succeeded');
      return account ?? wrong;
    } catch (error) {
      await admission.settle('undecided');
      if (error instanceof TooBusy)
        return { status: 503, text: (language) => texts[language].busy, retryAfterSeconds: 5 };
      throw error;
    }
  };
}

type SessionOf = (ctx: Context) => Promise<Session | null>;

/** Makes the routes of the home page and of signing out. */
function homeRoutes(context: SignInContext, sessionOf: SessionOf) {
  const { authUrl, branding, accounts, sessions, cookies, signedOut } = context;
  const { token, isGenuine } = createFormProofs(context.authUrl, context.csrf, context.cookies.form);

  return {
    async home(ctx: Context): Promise<void> {
      const language = languageOf(branding, ctx);
      const session = await sessionOf(ctx);
      const account = session && (await accounts.getBySub(session.sub));
      ctx.type = 'html';
      ctx.body = homePage(branding, language, account && { account, csrf: token(ctx, 'sign-out', session) });
    },

    async signOut(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const session = await sessionOf(ctx);
      // The form may come from another site: browsers then send no cookies, but would remove them.
      if (session === null) return seeOther(ctx, `${authUrl}/`);
      if (!isGenuine(ctx, form, 'sign-out', session)) return showError(ctx, branding, 403);
      await sessions.end(session);
      await signedOut(session.sub, { authenticatedAt: session.authenticatedAt });
      ctx.append('Set-Cookie', cookies.session.remove);
      ctx.append('Set-Cookie', cookies.form.remove);
      seeOther(ctx, `${authUrl}/`);
    },
  };
}

/** Makes the handlers of the pages where users sign in and out. */
export function createAccountRoutes(context: SignInContext) {
  const { authUrl, branding, accounts, sessions, cookies, csrf, browsers, askingApps, now, signedOut } =
    context;
  const { token, isGenuine } = createFormProofs(context.authUrl, context.csrf, context.cookies.form);
  const checkPassword = passwordCheck(context);

  const sessionOf: SessionOf = (ctx) => sessions.find(cookies.session.read(ctx.req));

  async function showForm(
    ctx: Context,
    request: LoginRequest,
    session: Session | null,
    problem: Problem | null,
  ): Promise<void> {
    const language = languageOf(branding, ctx, request.uiLocales);
    const { returnTo, uiLocales, reauthenticate, app: sealed } = request;
    const app = askingApps.opened(returnTo, sealed);
    const account = session && (await accounts.getBySub(session.sub));
    ctx.status = problem?.status ?? 200;
    if (problem?.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(problem.retryAfterSeconds));
    allowScript(ctx);
    ctx.type = 'html';
    ctx.body = loginPage(branding, language, {
      // Bound to the browser, not to a session, because the session may expire while the page is open.
      csrf: token(ctx, 'login', null),
      ...{ returnTo, uiLocales, reauthenticate },
      again: account !== null && reauthenticate,
      app: app && { ...app, sealed },
      handle: request.handle === '' ? (account?.handle ?? '') : request.handle,
      problem: problem?.text(language) ?? null,
      wrongInput: problem === wrong,
    });
  }

  /**
   * Checks whether a form that is not genuine (any more) came from a user who has just signed in with it: the button was
   * pressed again while the next page was loading. The first sign-in has made the form invalid.
   */
  async function isSecondPress(ctx: Context, { handle }: LoginRequest, session: Session | null) {
    if (session === null || !hasJustBegun(session, now()) || !isSameOrigin(ctx.req, authUrl)) return false;
    const account = await accounts.getBySub(session.sub);
    return account?.handle.toLowerCase() === handle.toLowerCase();
  }

  return {
    ...homeRoutes(context, sessionOf),

    async showLogin(ctx: Context): Promise<void> {
      const request = parseLogin(new URLSearchParams(ctx.querystring), 'login_hint', authUrl);
      const session = await sessionOf(ctx);
      if (session === null || request.reauthenticate) await showForm(ctx, request, session, null);
      else seeOther(ctx, request.returnTo);
    },

    async signIn(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const request = parseLogin(form, 'handle', authUrl);
      const session = await sessionOf(ctx);
      if (!isGenuine(ctx, form, 'login', null)) {
        if (await isSecondPress(ctx, request, session)) return seeOther(ctx, request.returnTo);
        return showForm(ctx, request, session, { status: 403, text: (language) => texts[language].stale });
      }
      const result = await checkPassword(ctx, request.handle, (form.get('password') ?? '').slice(0, 1024));
      if (!('sub' in result)) return showForm(ctx, request, session, result);
      ctx.append('Set-Cookie', cookies.session.set(await sessions.start(result.sub, session)));
      // The same user stays signed in to the apps.
      if (session !== null && session.sub !== result.sub)
        await signedOut(session.sub, { authenticatedAt: session.authenticatedAt });
      ctx.append('Set-Cookie', cookies.known.set(browsers.remember(cookies.known.read(ctx.req), result)));
      // Invalidates all forms from before the sign-in.
      ctx.append('Set-Cookie', cookies.form.set(csrf.newCookie()));
      seeOther(ctx, request.returnTo);
    },
  };
}
