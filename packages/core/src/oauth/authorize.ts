import type { Context } from 'koa';
import { OAuthError, type OAuthErrorCode, oauthErrors, toOAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { seeOther, setNoStore } from '../http/headers.ts';
import { isScript } from '../http/prefetch.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { redirectedToAuthUrl } from './auth-url-redirect.ts';
import {
  findRedirectTarget,
  knownParameters,
  normalizedQuery,
  type RedirectTarget,
  requirePushed,
} from './authorize-request.ts';
import { isUncheckedWebsite, startedByScript } from './client.ts';
import { pageUrl } from './endpoints.ts';
import type { Engine } from './engine/engine.ts';
import { prefersJson } from './error-answer.ts';
import { authenticate } from './host-login.ts';
import { addressCounts } from './limits.ts';
import type { PushedRequests } from './pushed-requests.ts';
import { redirectLocation } from './redirect-location.ts';
import { invalid, type RawParameters, readForm, readQuery } from './request-parameters.ts';

/**
 * Redirects the browser to a URL. If the request prefers JSON and the URL contains an error, responds with
 * JSON and the status of the error table instead.
 */
function answerLocation(ctx: Context, location: string): void {
  const parameters = new URL(location).searchParams;
  const error = parameters.get('error');
  if (error === null || parameters.has('code') || !prefersJson(ctx)) {
    seeOther(ctx, location);
    return;
  }
  setNoStore(ctx);
  ctx.status = Object.hasOwn(oauthErrors, error)
    ? oauthErrors[error as keyof typeof oauthErrors].status
    : 400;
  ctx.body = { error, error_description: parameters.get('error_description') ?? undefined };
}

/**
 * Returns the client's redirect URI with the parameters of an error (RFC 6749, section 4.1.2.1; RFC 9207).
 */
function errorLocation(core: Core, { redirectUri, state }: RedirectTarget, error: OAuthError): string {
  return redirectLocation(redirectUri, {
    error: error.code,
    error_description: error.description,
    ...(state !== null && { state }),
    iss: core.options.issuer,
  });
}

/**
 * Returns the error in a URL of the client that the engine returned; `null` if the URL has a code, or is a page
 * of this service.
 */
function errorAt(location: string): OAuthError | null {
  const { searchParams } = new URL(location);
  const code = searchParams.get('error');
  if (code === null || searchParams.has('code')) return null;
  const known = Object.hasOwn(oauthErrors, code) ? (code as OAuthErrorCode) : 'invalid_request';
  return new OAuthError(known, searchParams.get('error_description') ?? undefined);
}

/**
 * Maximum length of a URL to which a browser is redirected with an app's parameters, in characters. Node and
 * many other servers refuse requests with more than 16 KiB of headers, cookies included.
 */
const maxUrlLength = 12 * 1024;

/**
 * Reads the known parameters of a posted authorization or logout request. @throws OAuthError with status 415
 * if the body is not a form
 */
export async function readPosted<Name extends string>(
  ctx: Context,
  names: readonly Name[],
): Promise<RawParameters<Name>> {
  if (ctx.is('application/x-www-form-urlencoded') === false) {
    throw new OAuthError('invalid_request', 'The Content-Type has to be application/x-www-form-urlencoded.', {
      status: 415,
    });
  }
  return readForm(ctx.req, names);
}

/**
 * Redirects a posted request to the same URL with GET, because browsers send the host application's sign-in
 * cookie only with GET.
 * @throws OAuthError if the parameters are too long for a URL
 */
export function continueAsGet(core: Core, ctx: Context, page: 'authorize' | 'logout', query: string): void {
  const url = `${pageUrl(core.options, page)}?${query}`;
  if (url.length > maxUrlLength) throw invalid('The parameters are too long together.');
  seeOther(ctx, url);
}

export function answerHead(ctx: Context): void {
  setNoStore(ctx);
  ctx.status = 200;
  ctx.type = 'html';
}

/**
 * Creates a handler that limits the number of requests per client address.
 * @param name - name of the limit's counts; handlers with another name count separately
 * @param what - words for the counted requests in the error text
 */
export function limitStarts(core: Core, name: string, what = 'authorization requests'): Handler {
  const limit = core.options.limits.authorizeStarts;
  const starts = addressLimit(addressCounts(core), { name, limit });

  return async (ctx) => {
    const now = core.clock.now();
    const state = await starts.consume(core.clientAddress(ctx.req), now);
    requireAllowed([state], now, `Too many ${what} from this address.`);
  };
}

/**
 * Creates the handler of the authorization endpoint (RFC 6749, section 3.1).
 * @param pushed - requests that clients pushed; `null` if clients cannot push any
 */
export function authorizeHandler(core: Core, engine: Engine, pushed: PushedRequests | null): Handler {
  const limit = limitStarts(core, 'authorize');

  return async (ctx) => {
    if (redirectedToAuthUrl(core, ctx, 'authorize')) return;
    await limit(ctx);
    const sent =
      ctx.method === 'POST'
        ? await readPosted(ctx, knownParameters)
        : readQuery(ctx.querystring, knownParameters);
    const request = (await pushed?.find(sent)) ?? null;
    if (request !== null && 'page' in request) return seeOther(ctx, request.page);
    const parameters = request?.parameters ?? sent;
    const target = await findRedirectTarget(core, parameters, core.clientAddress(ctx.req));
    try {
      if (request === null) requirePushed(core.options, target.client);
      const query = normalizedQuery(core.options, parameters, target);
      if (ctx.method === 'POST') return continueAsGet(core, ctx, 'authorize', request?.reference ?? query);
      // HEAD (RFC 9110, section 9.3.2): validate the request, start nothing.
      if (ctx.method === 'HEAD') return answerHead(ctx);
      const user = await authenticate(core, ctx.req);
      if (request !== null) {
        // Refused before the request counts as used, because a script cannot open the page that would follow.
        if (isScript(ctx.req)) throw startedByScript();
        await pushed?.use(request);
      }
      const { location, isBegun } = await engine.authorize(ctx, query, user);
      if (request !== null && isBegun) await pushed?.keepPage(request, location);
      const error = isBegun ? null : errorAt(location);
      if (error !== null && isUncheckedWebsite(target.client, target.redirectUri)) throw error;
      answerLocation(ctx, location);
    } catch (thrown) {
      const error = toOAuthError(thrown);
      // For scripts: they can read JSON, but could not follow a redirect to another site.
      if (error.code === 'login_required' && error.status === 401) {
        ctx.state.errors = 'json';
        throw thrown;
      }
      // Show an error page, and do not redirect, if the service fails or has too many unfinished requests, if
      // the client was just disabled or lost its redirect URI, or if its pushed request was used in the
      // meantime.
      if (
        error.status >= 500 ||
        /^(slow_down|invalid_client|invalid_request_uri|redirect_uri_mismatch)$/.test(error.code)
      )
        throw thrown;
      // No administrator has checked this website, and the user was not asked.
      if (isUncheckedWebsite(target.client, target.redirectUri)) throw thrown;
      const location = errorLocation(core, target, error);
      // The app's server would refuse such a long URL.
      if (location.length > maxUrlLength) throw thrown;
      answerLocation(ctx, location);
    }
  };
}

export function resumeHandler(core: Core, engine: Engine): Handler {
  // Limited because a resumed request may start another interaction. This limit has its own counts, so that
  // one flow counts once in each.
  const limit = limitStarts(core, 'resume');

  return async (ctx) => {
    await limit(ctx);
    if (ctx.method === 'HEAD') return answerHead(ctx);
    const user = await authenticate(core, ctx.req);
    answerLocation(ctx, await engine.resume(ctx, user));
  };
}
