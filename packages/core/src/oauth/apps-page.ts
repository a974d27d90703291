import type { Context } from 'koa';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { answerPage, seeOther } from '../http/headers.ts';
import { readParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import { timeZoneOf } from '../languages/page-language.ts';
import type { Core } from '../options/context.ts';
import { type AppsNotice, appsPage } from '../pages/apps.ts';
import { displayName, findUser } from '../scopes/user-record.ts';
import { redirectedToAuthUrl } from './auth-url-redirect.ts';
import { findClient } from './client.ts';
import type { ConnectedApp, ConnectedApps } from './connected-apps.ts';
import { clientIdInPath, clientPathName, pageUrl } from './endpoints.ts';
import { requestLanguage } from './error-answer.ts';
import { authenticate, loginUrl } from './host-login.ts';

const purpose = (clientId: string): FormPurpose => ['revoke app', clientId];
const undoPurpose = (clientId: string): FormPurpose => ['restore app', clientId];

const signIn = (core: Core): Promise<string> => loginUrl(core, pageUrl(core.options, 'apps'), false);

/** Returns the URL of the page of connected apps with a message about an app. */
function noticeUrl(
  { options }: Core,
  notice: 'removed' | 'restored' | 'tooLate',
  proof: object = {},
): string {
  return `${pageUrl(options, 'apps')}?${new URLSearchParams({ notice, ...proof })}`;
}

/**
 * Returns the message that the URL of the page of connected apps asks for. The URL after a removal contains
 * the form token with which the removal can be undone, so that another person cannot write a URL that
 * offers to restore an app.
 */
async function noticeFrom(
  core: Core,
  ctx: Context,
  forms: Forms,
  sub: string,
  apps: readonly ConnectedApp[],
): Promise<AppsNotice | null> {
  const { notice, app, undo } = ctx.query;
  if (notice === 'tooLate') return { kind: 'tooLate' };
  if (typeof app !== 'string') return null;
  const connected = apps.find(({ clientId }) => clientId === app);
  if (notice === 'restored' && connected !== undefined)
    return { kind: 'restored', clientName: connected.clientName };
  if (notice !== 'removed' || connected !== undefined) return null;
  if (typeof undo !== 'string' || !forms.proves(sub, undo, undoPurpose(app))) return null;
  const client = await findClient(core, app);
  if (client === null) return null;
  const undoAction = pageUrl(core.options, 'restoreApp', clientPathName(app));
  return { kind: 'removed', clientName: client.name, undoAction, csrfToken: undo };
}

export function appsHandler(core: Core, consents: ConnectedApps, forms: Forms): Handler {
  const { options } = core;

  return async (ctx) => {
    if (redirectedToAuthUrl(core, ctx, 'apps')) return;
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const connected = await consents.list(user.sub);
    const apps = connected.map((app) => ({
      ...app,
      revokeAction: pageUrl(options, 'revokeApp', clientPathName(app.clientId)),
      csrfToken: forms.issueTo(user.sub, purpose(app.clientId)),
    }));
    const record = await findUser(options.users, user.sub, ['profile']);
    const page = appsPage({
      theme: options.theme,
      language: requestLanguage(core, ctx),
      languages: options.languages,
      pageUrl: pageUrl(options, 'apps'),
      homeUrl: new URL('/', options.authUrl).href,
      apps,
      userName: displayName(record, options.theme.showHandle),
      timeZone: timeZoneOf(record?.zoneinfo),
      notice: await noticeFrom(core, ctx, forms, user.sub, connected),
    });
    answerPage(ctx, page);
  };
}

/**
 * Creates the handler that ends a connected app's access. May be repeated. If another user has signed in
 * since the page was shown, shows that user's apps instead.
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
    const undo = forms.issueTo(user.sub, undoPurpose(clientId));
    seeOther(ctx, noticeUrl(core, 'removed', { app: clientId, undo }));
  };
}

/** Creates the handler that undoes the removal of a connected app, within ten minutes. */
export function restoreAppHandler(core: Core, consents: ConnectedApps, forms: Forms): Handler {
  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'restore app');
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const clientId = clientIdInPath(ctx.params.clientId);
    const token = (await readParameters(ctx.req)).get('csrf');
    if (!forms.isShownTo(user.sub, token, undoPurpose(clientId)))
      return seeOther(ctx, pageUrl(core.options, 'apps'));
    const isRestored = await consents.restore(user.sub, clientId);
    // A second click finds the consent restored.
    const isConnected = isRestored || (await core.storage.consents.find(user.sub, clientId)) !== null;
    seeOther(ctx, isConnected ? noticeUrl(core, 'restored', { app: clientId }) : noticeUrl(core, 'tooLate'));
  };
}
