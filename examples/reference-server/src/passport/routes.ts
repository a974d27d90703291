import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'koa';
import { passportPage } from '../pages/passport-page.ts';
import { chooseLanguage } from '../pages/texts.ts';
import type { SignInContext } from '../sign-in/context.ts';

/** The passport page: every visit issues a passport, and none is kept anywhere. */
export function createPassportRoutes({
  look,
  authUrl,
  accounts,
  sessions,
  cookies,
  passports,
}: SignInContext) {
  const script = readFileSync(join(import.meta.dirname, '../public/passport.js'));

  return {
    async show(ctx: Context): Promise<void> {
      const session = await sessions.find(cookies.session.read(ctx.req));
      const account = session && (await accounts.getBySub(session.sub));
      if (account === null || account.blockedAt !== null) {
        ctx.status = 303;
        ctx.set('Location', `${authUrl}/login?return_to=%2Fpassport`);
        return;
      }
      const passport = await passports.issue(account.sub);
      // The only page with a script: its own file, which counts down.
      ctx.set('Content-Security-Policy', `${ctx.response.get('Content-Security-Policy')}; script-src 'self'`);
      ctx.type = 'html';
      ctx.body = passportPage(look, chooseLanguage(undefined, ctx.get('accept-language')), account, passport);
    },

    // Back to the page by a redirect, so that reloading it does not ask whether to send a form again.
    again(ctx: Context): void {
      ctx.status = 303;
      ctx.set('Location', `${authUrl}/passport`);
    },

    script(ctx: Context): void {
      ctx.type = 'text/javascript';
      ctx.body = script;
    },
  };
}
