import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { answerPage, seeOther } from '../http/headers.ts';
import { readParameters } from '../http/parameters.ts';
import { isNavigation } from '../http/prefetch.ts';
import type { Handler } from '../http/route.ts';
import { choosePageLanguage } from '../languages/page-language.ts';
import type { Core } from '../options/context.ts';
import { afterLogoutPage, logoutPage } from '../pages/logout.ts';
import type { Authentication } from '../ports/users.ts';
import { displayName, findUser } from '../scopes/user-record.ts';
import { redirectedToAuthUrl } from './auth-url-redirect.ts';
import { answerHead, continueAsGet, limitStarts, readPosted } from './authorize.ts';
import { isUncheckedWebsite } from './client.ts';
import { pageUrl } from './endpoints.ts';
import { authenticate, LoginError } from './host-login.ts';
import { type LogoutRequest, logoutParameters, readLogoutRequest } from './logout-request.ts';
import { readQuery } from './request-parameters.ts';
import type { SignOuts } from './sign-outs.ts';

const purpose: FormPurpose = ['logout'];

/**
 * Creates the handlers of the logout endpoint, with which an app ends a user's sign-in at the host
 * application (OpenID Connect RP-Initiated Logout 1.0).
 */
export function logoutHandlers(core: Core, forms: Forms, signOuts: SignOuts) {
  const { options } = core;
  const limit = limitStarts(core, 'logout', 'requests to sign out');

  const pageContext = (ctx: Context, { uiLocales }: LogoutRequest) => ({
    theme: options.theme,
    language: choosePageLanguage(options.languages, uiLocales, ctx.get('Accept-Language')),
  });

  /** Redirects the browser to the app after a sign-out, or shows a page that confirms the sign-out. */
  function leave(ctx: Context, request: LogoutRequest): void {
    if (request.returnTo !== null) seeOther(ctx, request.returnTo);
    else answerPage(ctx, afterLogoutPage(pageContext(ctx, request), 'leave'));
  }

  /**
   * Responds to a request without a signed-in user, whom it could ask. So the browser is not sent to a website
   * that no administrator has checked (RP-Initiated Logout 1.0, section 3).
   */
  function leaveUnasked(ctx: Context, request: LogoutRequest): void {
    const { client, returnTo } = request;
    const isUnchecked = client !== null && returnTo !== null && isUncheckedWebsite(client, returnTo);
    leave(ctx, isUnchecked ? { ...request, returnTo: null } : request);
  }

  async function signOut(ctx: Context, request: LogoutRequest, user: Authentication): Promise<void> {
    await signOuts.around(user, async () => {
      await options.login.signOut?.(ctx.req, ctx.res);
      if (ctx.res.headersSent || ctx.res.writableEnded)
        throw new LoginError('login.signOut: may set headers, but must not send a response');
    });
    leave(ctx, request);
  }

  const ask: Handler = async (ctx) => {
    if (redirectedToAuthUrl(core, ctx, 'logout')) return;
    await limit(ctx);
    const parameters =
      ctx.method === 'POST'
        ? await readPosted(ctx, logoutParameters)
        : readQuery(ctx.querystring, logoutParameters);
    const request = await readLogoutRequest(core, parameters);
    if (ctx.method === 'POST') return continueAsGet(core, ctx, 'logout', request.query);
    if (ctx.method === 'HEAD') return answerHead(ctx);
    const user = await authenticate(core, ctx.req);
    if (user === null) return leaveUnasked(ctx, request);
    // Sign out without a question only if the user's tab itself navigates to this URL: an image or frame on
    // any page may request it.
    if (user.sub === request.sub && isNavigation(ctx.req)) return signOut(ctx, request, user);
    const record = await findUser(options.users, user.sub, ['profile']);
    const page = logoutPage({
      ...pageContext(ctx, request),
      clientName: request.client?.name ?? null,
      userName: displayName(record, options.theme.showHandle),
      csrfToken: forms.issueTo(user.sub, purpose),
      action: `${pageUrl(options, 'confirmLogout')}?${request.query}`,
    });
    answerPage(ctx, page);
  };

  const confirm: Handler = async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'logout');
    const request = await readLogoutRequest(core, readQuery(ctx.querystring, logoutParameters));
    const form = await readParameters(ctx.req);
    const user = await authenticate(core, ctx.req);
    if (user === null) return leaveUnasked(ctx, request);
    const isShown = forms.isShownTo(user.sub, form.get('csrf'), purpose);
    switch (form.get('decision')) {
      case 'leave':
        // Another user has signed in since the question was shown: start again and ask that user.
        if (!isShown) return continueAsGet(core, ctx, 'logout', request.query);
        return signOut(ctx, request, user);
      case 'stay':
        return answerPage(ctx, afterLogoutPage(pageContext(ctx, request), 'stay'));
      default:
        throw new OAuthError('invalid_request', 'The parameter decision has to be leave or stay.');
    }
  };

  return { ask, confirm };
}
