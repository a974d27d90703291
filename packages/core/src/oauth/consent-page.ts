import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import type { Forms } from '../http/csrf.ts';
import { answerPage, seeOther } from '../http/headers.ts';
import { readParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import { choosePageLanguage, type PageLanguage, timeZoneOf } from '../languages/page-language.ts';
import type { Core } from '../options/context.ts';
import { cancelPage } from '../pages/cancel.ts';
import { consentPage } from '../pages/consent.ts';
import { valueTexts } from '../pages/consent-values.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { UserRecord } from '../ports/users.ts';
import { offlineAccess } from '../scopes/scopes.ts';
import { displayName } from '../scopes/user-record.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { answerHead } from './authorize.ts';
import { logoUrl } from './client-logo.ts';
import type { Engine } from './engine/engine.ts';
import { answerHostPage, hostPageUrl } from './host-page.ts';
import type { Interactions, Question } from './interaction.ts';
import { detailsOf, namedResources, shownDocument } from './interaction-api.ts';
import { accessTokenSeconds, interactionSeconds } from './lifetimes.ts';
import { userinfoOf } from './userinfo.ts';
import { interactionPageUrl } from './way-back.ts';

/**
 * Returns the name under which the consent page shows the app's redirect URI: the host of a web URL, or the
 * scheme of an app on the user's device. The host part of a private-use URI is not shown, because the app can
 * choose any name for it.
 */
function redirectTarget(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

/** Returns the user's own data of a scope for the consent page, if the option `consent.values` is set. */
function userValues(core: Core, user: UserRecord, scope: string, language: PageLanguage): string[] {
  if (!core.options.consent.values) return [];
  return valueTexts(userinfoOf(core, user, [scope]), language, timeZoneOf(user.zoneinfo));
}

/** Checks whether an authorization with these scopes gives the client a refresh token. */
function isRefreshable({ options }: Core, client: ClientRecord, scopes: Question['scopes']): boolean {
  if (options.refreshTokens === undefined) return false;
  return client.refreshWithoutOfflineAccess === true || scopes.some(({ name }) => name === offlineAccess);
}

async function renderConsent(core: Core, ctx: Context, question: Question): Promise<void> {
  const { interaction, client, user, scopes } = question;
  const { ui_locales, redirect_uri = '' } = interaction.params;
  const { languages, pages, scopes: catalog } = core.options;
  const chosen = typeof ctx.query.ui_locales === 'string' ? ctx.query.ui_locales : ui_locales;
  const language = choosePageLanguage(languages, chosen, ctx.get('Accept-Language'));
  const action = interactionPageUrl(core, interaction, 'interaction');
  if (pages.consent !== undefined) {
    const { name = null, handle = null } = user;
    const details = { ...detailsOf(question, core), user: { name, handle }, action };
    const own = await pages.consent({ ...details, language: language.tag }, ctx.req);
    return answerHostPage(ctx, 'pages.consent', own);
  }
  const page = consentPage({
    theme: core.options.theme,
    ...{ language, languages },
    clientName: client.name,
    partnerName: question.partnerName,
    logoUrl: logoUrl(core, client),
    userName: displayName(user, core.options.theme.showHandle),
    document: shownDocument(client, redirect_uri),
    termsUrl: client.termsUrl ?? null,
    privacyUrl: client.privacyUrl ?? null,
    scopes: scopes
      .filter(({ name }) => catalog.has(name))
      .map((scope) => ({ ...scope, values: userValues(core, user, scope.name, language) })),
    resourceNames: namedResources(core, question.resources).map(({ name }) => name),
    redirectTarget: redirectTarget(redirect_uri),
    isWebsite: new URL(redirect_uri).protocol === 'https:',
    accessSeconds: accessTokenSeconds,
    keepsAccess: isRefreshable(core, client, scopes),
    csrfToken: question.csrfToken,
    action,
    switchAccountUrl: question.switchAccountUrl,
  });
  answerPage(ctx, page);
}

/**
 * Creates the handler of the interaction page: redirects to the host application's login, then shows the
 * consent page, or redirects to that of the host (option `interactionUrl`).
 */
export function interactionHandler(core: Core, engine: Engine, interactions: Interactions): Handler {
  const { interactionUrl, authUrl } = core.options;

  return async (ctx) => {
    if (ctx.method === 'HEAD') return answerHead(ctx);
    const step = await interactions.next(ctx, ctx.params.id);
    if (typeof step === 'string') return seeOther(ctx, step);
    if (interactionUrl === undefined) return renderConsent(core, ctx, step);
    const { id, start } = step.interaction;
    const page = hostPageUrl(interactionUrl, id, authUrl);
    const secondsSince = (core.clock.now() - start.startedAt) / 1000;
    await engine.bindTo(ctx, id, page, interactionSeconds - secondsSince);
    seeOther(ctx, page.href);
  };
}

export function consentHandler(interactions: Interactions, forms: Forms): Handler {
  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'consent');
    const form = await readParameters(ctx.req);
    const decision = form.get('decision');
    if (decision !== 'approve' && decision !== 'deny') {
      throw new OAuthError('invalid_request', 'The parameter decision has to be approve or deny.');
    }
    const offered = spaceSeparated(form.get('offered') ?? '');
    const declined = offered.filter((name) => !form.has(`allow:${name}`));
    const answer = { approved: decision === 'approve', declined, csrfToken: form.get('csrf') };
    seeOther(ctx, await interactions.answer(ctx, ctx.params.id, answer));
  };
}

/**
 * Creates the handler of the page on which the user returns to the app without signing in. Opening its link
 * changes nothing, because browsers follow links ahead of their users.
 */
export function cancelPageHandler(core: Core, interactions: Interactions): Handler {
  const { options } = core;

  return async (ctx) => {
    const { interaction, client } = await interactions.current(ctx, ctx.params.id);
    const language = choosePageLanguage(
      options.languages,
      interaction.params.ui_locales,
      ctx.get('Accept-Language'),
    );
    const action = interactionPageUrl(core, interaction, 'cancel');
    answerPage(ctx, cancelPage({ theme: options.theme, language, clientName: client.name, action }));
  };
}

/**
 * Creates the handler that returns the user to the app without a sign-in. Only the browser of this
 * interaction knows its id and has its cookie, so a page of the host application can post here without a form
 * token.
 */
export function cancelHandler(interactions: Interactions, forms: Forms): Handler {
  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, 'cancel');
    seeOther(ctx, await interactions.cancel(ctx, ctx.params.id));
  };
}
