import { seeOther } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { allowScript } from '../http/headers.ts';
import { languageOf } from '../pages/layout.ts';
import { passportPage } from '../pages/passport-page.ts';
import type { SignInContext } from '../sign-in/context.ts';

/** Makes the routes of the passport page: every visit issues a passport, and none is stored. */
export function createPassportRoutes(context: SignInContext) {
  const { branding, authUrl, accounts, sessions, cookies, passports } = context;

  return {
    async show(ctx: Context): Promise<void> {
      const session = await sessions.find(cookies.session.read(ctx.req));
      const account = session && (await accounts.getBySub(session.sub));
      if (account === null || account.blockedAt !== null) {
        return seeOther(ctx, `${authUrl}/login?return_to=%2Fpassport`);
      }
      const passport = await passports.issue(account.sub);
      allowScript(ctx);
      ctx.type = 'html';
      ctx.body = passportPage(branding, languageOf(branding, ctx), account, passport);
    },

    // Redirects back to the page, so that reloading it does not submit a form again.
    again: (ctx: Context): void => seeOther(ctx, `${authUrl}/passport`),
  };
}
