import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { type OAuthError, type OAuthErrorCode, toOAuthError } from '../errors.ts';
import { answerPage, setNoStore } from '../http/headers.ts';
import { choosePageLanguage, type PageLanguage } from '../languages/page-language.ts';
import { type ErrorKind, errorPage } from '../pages/error.ts';

const pageKinds: { readonly [code in OAuthErrorCode]?: ErrorKind } = {
  invalid_client: 'unknown_client',
  redirect_uri_mismatch: 'redirect_mismatch',
  slow_down: 'rate_limited',
  temporarily_unavailable: 'unavailable',
  server_error: 'internal',
  not_found: 'not_found',
};

function pageKind(error: OAuthError): ErrorKind {
  if (error.page !== null) return error.page;
  if (error.status === 405) return 'method';
  return pageKinds[error.code] ?? 'invalid_request';
}

/** Whether the caller would rather read JSON than HTML; a caller without preference (any type) would not. */
export function prefersJson(ctx: Context): boolean {
  return ctx.accepts('html', 'json') === 'json';
}

/** Whether the caller asks for HTML by name, as browsers do, rather than for anything. */
function isBrowser(ctx: Context): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(ctx.get('Accept')) && !prefersJson(ctx);
}

/** The language of a page that has no stored request to look at. */
export function requestLanguage({ options }: Core, ctx: Context): PageLanguage {
  return choosePageLanguage(options.languages, undefined, ctx.get('Accept-Language'));
}

/** The one place that turns anything thrown into an answer; details of defects go to the log alone. */
export function answerError(core: Core, ctx: Context, thrown: unknown, expects: 'page' | 'json'): void {
  const error = toOAuthError(thrown);
  const requestId = ctx.response.get('X-Request-Id');
  if (error.status >= 500) {
    const fields = { requestId, path: ctx.state.route ?? 'unknown', err: error.cause ?? error };
    core.options.logger.error(fields, `request failed: ${error.code}`);
  }
  ctx.status = error.status;
  ctx.set(error.headers);
  if (expects === 'page' && isBrowser(ctx)) {
    const page = errorPage({
      theme: core.options.theme,
      language: requestLanguage(core, ctx),
      kind: pageKind(error),
      detail: `${error.code}: ${error.description}`,
      requestId,
    });
    answerPage(ctx, page);
  } else {
    setNoStore(ctx);
    ctx.body = { error: error.code, error_description: error.description };
  }
}
