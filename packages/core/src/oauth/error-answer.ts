import type { Context } from 'koa';
import { type OAuthError, type OAuthErrorCode, toOAuthError } from '../errors.ts';
import { answerPage, setNoStore } from '../http/headers.ts';
import { choosePageLanguage, type PageLanguage } from '../languages/page-language.ts';
import type { Core } from '../options/context.ts';
import type { ErrorPageDetails } from '../options/host-pages.ts';
import { type AppToReturnTo, type ErrorKind, errorPage } from '../pages/error.ts';
import { printableUrl } from '../text/printable.ts';
import { answerHostPage } from './host-page.ts';
import { findAppToReturnTo, lacksCookie } from './way-back.ts';

const pageKinds: { readonly [code in OAuthErrorCode]?: ErrorKind } = {
  invalid_client: 'unknown_client',
  redirect_uri_mismatch: 'redirect_mismatch',
  slow_down: 'rate_limited',
  temporarily_unavailable: 'unavailable',
  server_error: 'internal',
  not_found: 'not_found',
};

function pageKind(core: Core, ctx: Context, error: OAuthError): ErrorKind {
  if (error.page === 'expired' && lacksCookie(core, ctx)) return 'no_cookie';
  if (error.page !== null) return error.page;
  if (error.status === 405) return 'method';
  return pageKinds[error.code] ?? 'invalid_request';
}

/** Checks whether the client prefers JSON to HTML. A client that accepts any type has no preference. */
export function prefersJson(ctx: Context): boolean {
  return ctx.accepts('html', 'json') === 'json';
}

/** Checks whether the client requests HTML by name, as browsers do, rather than any type. */
function isBrowser(ctx: Context): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(ctx.get('Accept')) && !prefersJson(ctx);
}

/**
 * Returns the redirect URI that was refused, for an error page that the app's developers read. Leaves out the
 * values of its query, which may be secret.
 */
function sentRedirectUri({ query }: Context, { code }: OAuthError): string {
  const { redirect_uri } = query;
  if (code !== 'redirect_uri_mismatch' || typeof redirect_uri !== 'string') return '';
  return ` It was: ${printableUrl(redirect_uri)}`;
}

/**
 * Returns the language of a page for a request, from its parameter `ui_locales` and its header
 * `Accept-Language`.
 */
export function requestLanguage({ options }: Core, ctx: Context): PageLanguage {
  const { ui_locales } = ctx.query;
  const locales = typeof ui_locales === 'string' ? ui_locales : undefined;
  return choosePageLanguage(options.languages, locales, ctx.get('Accept-Language'));
}

/** Tries to respond with the host application's own error page. Returns whether that worked. */
async function answeredByHost({ options }: Core, ctx: Context, details: ErrorPageDetails): Promise<boolean> {
  if (options.pages.error === undefined) return false;
  try {
    await answerHostPage(ctx, 'pages.error', await options.pages.error(details, ctx.req));
    return true;
  } catch (err) {
    options.logger.error(
      { err, requestId: details.requestId },
      'pages.error failed; the built-in page was shown',
    );
    return false;
  }
}

/** Finds the app that an error page links to; `null` if there is none, or if the storage fails. */
async function findWayBack(core: Core, ctx: Context, kind: ErrorKind): Promise<AppToReturnTo | null> {
  if (kind !== 'expired' && kind !== 'no_cookie') return null;
  try {
    return await findAppToReturnTo(core, ctx);
  } catch (err) {
    core.options.logger.warn({ err }, 'an error page is shown without the way back to its app');
    return null;
  }
}

/** Converts anything that was thrown into a response. Details of internal errors go only to the log. */
export async function answerError(
  core: Core,
  ctx: Context,
  thrown: unknown,
  expects: 'page' | 'json',
): Promise<void> {
  const error = toOAuthError(thrown);
  const requestId = ctx.state.headers['X-Request-Id'];
  if (error.status >= 500) {
    const fields = { requestId, path: ctx.state.route ?? 'unknown', err: error.cause ?? error };
    core.options.logger.error(fields, `request failed: ${error.code}`);
  }
  ctx.status = error.status;
  ctx.set(error.headers);
  if (expects === 'page' && isBrowser(ctx)) {
    const language = requestLanguage(core, ctx);
    const kind = pageKind(core, ctx, error);
    const app = await findWayBack(core, ctx, kind);
    const texts = { ...language.texts.errors[kind], language: language.tag };
    const { code, description, status } = error;
    const details = { ...texts, kind, code, description, status, requestId, ...(app && { app }) };
    if (await answeredByHost(core, ctx, details)) return;
    const detail = `${code}: ${description}${sentRedirectUri(ctx, error)}`;
    answerPage(ctx, errorPage({ theme: core.options.theme, language, kind, detail, requestId, app }));
  } else {
    setNoStore(ctx);
    ctx.body = { error: error.code, error_description: error.description };
  }
}
