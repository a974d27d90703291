import type { cookie as cookieOf } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { type createCsrf, isSameOrigin } from './csrf.ts';
import type { Session } from './sessions.ts';

/**
 * Makes and checks the tokens which prove that a form came from a page of this server in the same browser.
 */
export function createFormProofs(
  authUrl: string,
  csrf: ReturnType<typeof createCsrf>,
  formCookie: ReturnType<typeof cookieOf>,
) {
  /** Returns the browser's form cookie, and sets it if the browser has none. Call this once for a page. */
  function begin(ctx: Context): string {
    const known = formCookie.read(ctx.req);
    const cookie = csrf.isCookie(known) ? known : csrf.newCookie();
    if (cookie !== known) ctx.append('Set-Cookie', formCookie.set(cookie));
    return cookie;
  }

  /** Returns the browser's form cookie if the posted form is genuine; `null` for any other form. */
  function genuine(ctx: Context, form: URLSearchParams, name: string, session: Session | null) {
    const cookie = formCookie.read(ctx.req);
    if (!isSameOrigin(ctx.req, authUrl) || !csrf.isCookie(cookie)) return null;
    return csrf.verify(form.get('csrf'), cookie, name, session?.digest ?? null) ? cookie : null;
  }

  return {
    begin,
    genuine,
    token: (ctx: Context, name: string, session: Session | null): string =>
      csrf.token(begin(ctx), name, session?.digest ?? null),
    isGenuine: (...given: Parameters<typeof genuine>): boolean => genuine(...given) !== null,
  };
}
