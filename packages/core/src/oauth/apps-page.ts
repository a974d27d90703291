import type { FormPurpose, Forms } from '../http/csrf.ts';
import { answerPage, seeOther } from '../http/headers.ts';
import { readParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import { timeZoneOf } from '../languages/page-language.ts';
import type { Core } from '../options/context.ts';
import { appsPage } from '../pages/apps.ts';
import type { ConnectedApps } from './connected-apps.ts';
import { clientIdInPath, clientPathName, pageUrl } from './endpoints.ts';
import { requestLanguage } from './error-answer.ts';
import { authenticate, loginUrl } from './host-login.ts';
import { displayName, findUser } from './user.ts';

const purpose = (clientId: string): FormPurpose => ['revoke app', clientId];

const signIn = (core: Core): Promise<string> => loginUrl(core, pageUrl(core.options, 'apps'), false);

export function appsHandler(core: Core, consents: ConnectedApps, forms: Forms): Handler {
  const { options } = core;

  return async (ctx) => {
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const apps = (await consents.list(user.sub)).map((app) => ({
      ...app,
      revokeAction: pageUrl(options, 'revokeApp', clientPathName(app.clientId)),
      csrfToken: forms.issueTo(user.sub, purpose(app.clientId)),
    }));
    const record = await findUser(core, user.sub, ['profile']);
    const page = appsPage({
      theme: options.theme,
      language: requestLanguage(core, ctx),
      apps,
      userName: displayName(core, record),
      timeZone: timeZoneOf(record?.zoneinfo),
      notice: ctx.query.notice === 'revoked' ? 'revoked' : null,
    });
    answerPage(ctx, page);
  };
}

/**
 * Creates the handler that ends an app's access. May be repeated. If another user has signed in since the
 * page was shown, shows that user's apps instead.
 */
export function revokeAppHandler(core: Core, consents: ConnectedApps, forms: Forms): Handler {
  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'revoke app');
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const clientId = clientIdInPath(ctx.params.clientId);
    const token = (await readParameters(ctx.req)).get('csrf');
    if (!forms.isShownTo(user.sub, token, purpose(clientId)))
      return seeOther(ctx, pageUrl(core.options, 'apps'));
    await consents.revoke(user.sub, clientId);
    seeOther(ctx, `${pageUrl(core.options, 'apps')}?notice=revoked`);
  };
}
