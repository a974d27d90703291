import type { Core } from '../context.ts';
import { readParameters } from '../http/body.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { answerPage } from '../http/headers.ts';
import type { Handler } from '../http/route.ts';
import { appsPage } from '../pages/apps.ts';
import { isScope } from '../scopes.ts';
import { seeOther } from './authorize.ts';
import { pageUrl } from './endpoints.ts';
import { requestLanguage } from './error-answer.ts';
import { authenticate, loginUrl } from './host-login.ts';
import { displayName, findUser } from './user.ts';

const purpose = (sub: string, clientId: string): FormPurpose => ['revoke app', sub, clientId];

const signIn = (core: Core): Promise<string> => loginUrl(core, pageUrl(core.options, 'apps'), false);

export function appsHandler(core: Core, forms: Forms): Handler {
  const { storage, options } = core;

  return async (ctx) => {
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const consents = await storage.consents.list(user.sub);
    const apps = await Promise.all(
      consents.map(async ({ clientId, scopes, grantedAt, updatedAt }) => ({
        clientName: (await storage.clients.find(clientId))?.name ?? clientId,
        scopes: scopes.filter(isScope),
        grantedAt: new Date(grantedAt),
        updatedAt: new Date(updatedAt),
        revokeAction: pageUrl(options, 'revokeApp', clientId),
        csrfToken: forms.issue(purpose(user.sub, clientId)),
      })),
    );
    const page = appsPage({
      theme: options.theme,
      language: requestLanguage(core, ctx),
      apps,
      userName: displayName(await findUser(core, user.sub, ['profile'])),
      notice: ctx.query.notice === 'revoked' ? 'revoked' : null,
    });
    answerPage(ctx, page);
  };
}

/** Ends an app's access: its consent, its codes and its tokens for this user. Repeatable. */
export function revokeAppHandler(core: Core, forms: Forms): Handler {
  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'revoke app');
    const user = await authenticate(core, ctx.req);
    if (user === null) return seeOther(ctx, await signIn(core));
    const { clientId } = ctx.params;
    forms.check((await readParameters(ctx.req)).get('csrf'), purpose(user.sub, clientId));
    await core.storage.consents.revoke(user.sub, clientId, core.clock.now());
    seeOther(ctx, `${pageUrl(core.options, 'apps')}?notice=revoked`);
  };
}
