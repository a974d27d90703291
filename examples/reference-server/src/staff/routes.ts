import { fillText, readForm, seeOther } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { allowScript } from '../http/headers.ts';
import { showError } from '../pages/error-page.ts';
import { languageOf } from '../pages/layout.ts';
import { staffLoginPage, staffPage } from '../pages/staff-pages.ts';
import { texts } from '../pages/texts.ts';
import type { Language } from '../settings.ts';
import { hasJustBegun, isSameOrigin } from '../sign-in/csrf.ts';
import { safeReturnTo } from '../sign-in/return-to.ts';
import { TooBusy } from '../users/passwords.ts';
import type { StaffContext } from './context.ts';
import { createJoinRoutes } from './join-routes.ts';
import { StaffError, type StaffMember } from './members.ts';
import { confirmedMs } from './operators.ts';

interface Problem {
  readonly status: number;
  readonly text: (language: Language) => string;
  readonly retryAfterSeconds?: number;
}

const wrong: Problem = { status: 422, text: (language) => texts[language].staff.wrong };
const stale: Problem = { status: 403, text: (language) => texts[language].stale };

/**
 * Parses the parameters of the staff's sign-in page, the same in query and form. The parameters are not
 * trusted.
 */
function parseLogin(given: URLSearchParams, authUrl: string) {
  return {
    returnTo: safeReturnTo(given.get('return_to') ?? '/operators', authUrl),
    isAgain: given.get('again') === '1',
    email: (given.get('email') ?? '').trim().slice(0, 200),
  };
}

/** Makes the function that limits attempts of staff to sign in, and counts those that fail. */
function limited({ throttle, addressOf }: StaffContext) {
  return async (
    ctx: Context,
    name: string,
    attempt: () => Promise<StaffMember | null>,
  ): Promise<StaffMember | Problem> => {
    const admission = await throttle.admit({ handle: name, address: addressOf(ctx.req), browser: null });
    if (!admission.admitted) {
      const { retryAfterSeconds } = admission;
      const minutes = Math.ceil(retryAfterSeconds / 60);
      const text = (language: Language): string => fillText(language, texts[language].throttled, { minutes });
      return { status: 429, text, retryAfterSeconds };
    }
    try {
      const member = await attempt();
      await admission.settle(member === null ? 'failed' : 'succeeded');
      return member ?? wrong;
    } catch (error) {
      await admission.settle('undecided');
      if (!(error instanceof TooBusy)) throw error;
      return { status: 503, text: (language) => texts[language].busy, retryAfterSeconds: 5 };
    }
  };
}

/** Makes the function that checks a staff member's sign-in with a passkey. */
function passkeyCheck({ staff, passkeys, logger, record }: StaffContext) {
  return async (credential: string, cookie: string): Promise<StaffMember | null> => {
    const id = passkeys.idIn(credential);
    const passkey = id === null ? null : await staff.findPasskey(id);
    const verified = passkey && (await passkeys.verifySignIn(credential, passkey, cookie));
    const member = passkey && (await staff.get(passkey.staffId));
    if (passkey === null || verified === null || member === null) return null;
    const use = await staff.usePasskey(passkey.id, verified.counter, verified.challenge);
    if (use === 'cloned') {
      logger.warn({ staff: member.email }, 'a passkey repeated its counter: it may have been copied');
      await record(member, 'staff.passkey_refused', { reason: 'counter' });
    }
    return use === 'used' ? member : null;
  };
}

/** Makes the handlers of the staff's own page: adding passkeys, and signing out. */
function accountRoutes(context: StaffContext) {
  const { authUrl, branding, staff, sessions, cookies, forms, passkeys, now, signedIn, record } = context;

  type SignedIn = NonNullable<Awaited<ReturnType<typeof signedIn>>>;

  const isConfirmed = ({ session }: SignedIn): boolean =>
    now() - session.authenticatedAt.getTime() < confirmedMs;

  async function show(ctx: Context, who: SignedIn, problem: string | null): Promise<void> {
    const { session, member } = who;
    const known = await staff.passkeys(member.id);
    const cookie = forms.begin(ctx);
    allowScript(ctx);
    ctx.status = problem === null ? 200 : 422;
    ctx.type = 'html';
    ctx.body = staffPage(branding, languageOf(branding, ctx), {
      csrf: context.csrf.token(cookie, 'staff', session.digest),
      ...{ member, problem, passkeys: known.length },
      passkeyOptions: isConfirmed(who) ? await passkeys.registration(member, known, cookie) : null,
    });
  }

  return {
    async account(ctx: Context): Promise<void> {
      const who = await signedIn(ctx);
      if (who === null) return seeOther(ctx, `${authUrl}/staff/login?return_to=/staff`);
      await show(ctx, who, null);
    },

    async addPasskey(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const who = await signedIn(ctx);
      if (who === null) return seeOther(ctx, `${authUrl}/staff/login?return_to=/staff`);
      const cookie = forms.genuine(ctx, form, 'staff', who.session);
      if (cookie === null) return showError(ctx, branding, 403);
      if (!isConfirmed(who)) return seeOther(ctx, `${authUrl}/staff/login?again=1&return_to=/staff`);
      const passkey = await passkeys.verifyRegistration(form.get('credential') ?? '', cookie);
      const problem = texts[languageOf(branding, ctx)].staff.passkeyFailed;
      if (passkey === null) return show(ctx, who, problem);
      try {
        await staff.addPasskey(who.member.id, passkey, null);
      } catch (error) {
        if (!(error instanceof StaffError)) throw error;
        return show(ctx, who, problem);
      }
      await record(who.member, 'staff.passkey_add');
      seeOther(ctx, `${authUrl}/staff`);
    },

    async signOut(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const who = await signedIn(ctx);
      // The form may come from another site: browsers then send no cookies, but would remove them.
      if (who === null) return seeOther(ctx, `${authUrl}/staff/login`);
      if (!forms.isGenuine(ctx, form, 'staff', who.session)) return showError(ctx, branding, 403);
      await sessions.end(who.session);
      await record(who.member, 'staff.sign_out');
      ctx.append('Set-Cookie', cookies.staff.remove);
      ctx.append('Set-Cookie', cookies.staffForm.remove);
      seeOther(ctx, `${authUrl}/staff/login`);
    },
  };
}

/** Makes the handlers of the pages where staff sign in and out. */
export function createStaffRoutes(context: StaffContext) {
  const { authUrl, branding, staff, forms, csrf, passkeys, isCodeOptional, now, start, signedIn } = context;
  const attempt = limited(context);
  const checkPasskey = passkeyCheck(context);

  async function showForm(
    ctx: Context,
    request: ReturnType<typeof parseLogin>,
    problem: Problem | null,
  ): Promise<void> {
    const language = languageOf(branding, ctx);
    const cookie = forms.begin(ctx);
    ctx.status = problem?.status ?? 200;
    if (problem?.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(problem.retryAfterSeconds));
    allowScript(ctx);
    ctx.type = 'html';
    ctx.body = staffLoginPage(branding, language, {
      csrf: csrf.token(cookie, 'staff-login', null),
      ...request,
      problem: problem?.text(language) ?? null,
      passkeyOptions: await passkeys.authentication(cookie),
      isCodeOptional,
    });
  }

  /**
   * Checks whether a form that is not genuine (any more) came from a person who has just signed in with it: the button was
   * pressed again while the next page was loading. The first sign-in has made the form invalid.
   */
  async function isSecondPress(ctx: Context, email: string): Promise<boolean> {
    const who = isSameOrigin(ctx.req, authUrl) ? await signedIn(ctx) : null;
    if (who === null || !hasJustBegun(who.session, now())) return false;
    return who.member.email.toLowerCase() === email.toLowerCase();
  }

  return {
    ...createJoinRoutes(context),
    ...accountRoutes(context),

    async showLogin(ctx: Context): Promise<void> {
      const request = parseLogin(new URLSearchParams(ctx.querystring), authUrl);
      if (!request.isAgain && (await signedIn(ctx)) !== null) return seeOther(ctx, request.returnTo);
      await showForm(ctx, request, null);
    },

    async signIn(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const request = parseLogin(form, authUrl);
      if (!forms.isGenuine(ctx, form, 'staff-login', null)) {
        if (await isSecondPress(ctx, request.email)) return seeOther(ctx, request.returnTo);
        return showForm(ctx, request, stale);
      }
      const password = (form.get('password') ?? '').slice(0, 1_024);
      const code = (form.get('code') ?? '').slice(0, 40);
      const result = await attempt(ctx, request.email, () =>
        staff.verify(request.email, password, code, isCodeOptional),
      );
      if (!('id' in result)) return showForm(ctx, request, result);
      await start(ctx, result, 'password');
      seeOther(ctx, request.returnTo);
    },

    async signInWithPasskey(ctx: Context): Promise<void> {
      const form = await readForm(ctx.req);
      const request = parseLogin(form, authUrl);
      const cookie = forms.genuine(ctx, form, 'staff-login', null);
      if (cookie === null) return showForm(ctx, request, stale);
      const credential = form.get('credential') ?? '';
      const name = `passkey ${passkeys.idIn(credential) ?? ''}`.slice(0, 400);
      const result = await attempt(ctx, name, () => checkPasskey(credential, cookie));
      if (!('id' in result)) return showForm(ctx, request, result);
      await start(ctx, result, 'passkey');
      seeOther(ctx, request.returnTo);
    },
  };
}
