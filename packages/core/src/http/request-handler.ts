import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Mode } from '../ports/partners.ts';
import { apiKeyField, apiKeyFormat } from '../secrets/api-key-format.ts';
import type { HourlyCounts } from '../telemetry/hourly-counts.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { refuseLongBody } from './body.ts';
import { dropHostPolicies, type HeaderFields, noStore, setNoStore } from './headers.ts';
import { isPrefetch } from './prefetch.ts';
import type { Route } from './route.ts';

/** Returns the path of a request target. Drops the host of an absolute target (RFC 9112, section 3.2.2). */
function pathOf(target: string): string {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (path.startsWith('/')) return path;
  return URL.canParse(path) ? new URL(path).pathname : '/';
}

/**
 * Returns the URL of a request as it was before a framework such as Express removed the path at which the
 * handler is mounted.
 */
function originalTarget(request: IncomingMessage): string | undefined {
  return 'originalUrl' in request && typeof request.originalUrl === 'string'
    ? request.originalUrl
    : undefined;
}

/**
 * Lists the paths by which a request may match a route, the likeliest first: without the path of a configured
 * URL, as sent, and as a framework left it. A proxy may have removed the configured path already, and the
 * rest may begin like that path.
 * @param prefixes - paths of the configured URLs, without a trailing slash, the longest first
 */
function pathsOf(request: IncomingMessage, prefixes: readonly string[]): readonly string[] {
  const left = request.url ?? '/';
  const paths = new Set<string>();
  for (const path of [pathOf(originalTarget(request) ?? left), pathOf(left)]) {
    for (const prefix of prefixes) {
      if (path.startsWith(`${prefix}/`)) paths.add(path.slice(prefix.length));
    }
    paths.add(path);
  }
  return [...paths];
}

/**
 * Handles requests for Ostiary's routes. Passes all others to `next`, or responds with 404 if there is no
 * `next`. Calls `next` before the handler returns, or never.
 */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

function queryOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? '' : target.slice(end + 1);
}

/**
 * Replaces Koa's properties for the request's URL: reading them throws for impossible host names, and the
 * router's debug lines would show ids in the path.
 */
function hideTarget(app: Koa): void {
  Object.defineProperties(app.request, {
    path: { value: '/' },
    querystring: {
      get(this: Koa.Request) {
        return queryOf(this.req.url ?? '/');
      },
    },
  });
}

/** Returns the function that answers requests of one route, whatever their method. */
function routeHandler({ path, below, errors, handlers, changesOnGet }: Route) {
  const byMethod = new Map(Object.entries(handlers));
  const get = byMethod.get('GET');
  if (get !== undefined) byMethod.set('HEAD', get);
  const allowed = Object.keys(handlers)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  return (ctx: Context): Promise<void> | void => {
    ctx.state.route = path;
    if (errors === 'page' && ctx.state.errors !== 'page') ctx.set(ctx.state.headers);
    ctx.state.errors = errors;
    // API responses are about users, so no cache may keep them, errors included. Paths of the partner API got
    // the header before their route was found.
    if (below === 'baseUrl' && errors !== 'partner') Object.assign(ctx.state.headers, noStore);
    const handler = byMethod.get(ctx.method);
    if (changesOnGet && handler === get && isPrefetch(ctx.req)) {
      setNoStore(ctx);
      ctx.status = 204;
      return;
    }
    if (handler !== undefined) return handler(ctx);
    if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', allowed);
      ctx.status = 204;
      return;
    }
    throw new OAuthError('invalid_request', `The method ${ctx.method} is not supported here.`, {
      status: 405,
      headers: { Allow: allowed },
    });
  };
}

const apiPath = /^\/+v1(\/|$)/i;
const partnerPath = /^\/+v1\/+partner(\/|$)/i;

/**
 * Returns a path without percent-encoding and dot segments. Only used to choose the format of an error, not
 * to find a route. Returns plain paths unchanged, because parsing a URL costs half a microsecond per request.
 */
function plainPath(path: string): string {
  if (/^[\w/-]*$/.test(path)) return path;
  try {
    return new URL(`http://host/${decodeURIComponent(path)}`).pathname;
  } catch {
    return new URL(`http://host/${path}`).pathname;
  }
}

/**
 * Chooses the format of the error for a request without a route, from the paths by which the request was
 * searched: that of the partner API below `/v1/partner`, OAuth JSON below `/v1`, otherwise an HTML page.
 */
function errorsBelow(paths: readonly string[]): Route['errors'] {
  const forms = paths.flatMap((path) => [path, plainPath(path)]);
  if (forms.some((form) => partnerPath.test(form))) return 'partner';
  return forms.some((form) => apiPath.test(form)) ? 'json' : 'page';
}

/**
 * Measures the duration of each request under the path of its route, with the names of OpenTelemetry's semantic conventions.
 * Requests without a route share one name. Leaves out the path and the query of the URL, which may contain a phone number
 * or a code.
 * @param scheme - scheme of the configured URLs, `https` or `http`
 */
function measured(telemetry: Telemetry, scheme: string): Koa.Middleware {
  return (ctx, next) => {
    const { method, req } = ctx;
    const known = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : '_OTHER';
    const name = known === '_OTHER' ? 'HTTP' : known;
    const what = {
      metric: 'http.server.request.duration',
      span: name,
      origin: { headers: req.headers },
      labels: {
        'http.request.method': known,
        'url.scheme': scheme,
        'network.protocol.version': req.httpVersion,
      },
    } as const;
    return telemetry.measure(what, async ({ rename, label, describe, fail }) => {
      await next();
      const { route, headers } = ctx.state;
      if (typeof route === 'string') {
        rename(`${name} ${route}`);
        label({ 'http.route': route });
      }
      label({ 'http.response.status_code': ctx.status });
      describe({ 'ostiary.request.id': String(headers['X-Request-Id']) });
      if (ctx.status >= 500) fail(String(ctx.status));
    });
  };
}

/** Counts a request to the partner API by the status of its response. */
function countRequest(counts: HourlyCounts, mode: Mode, status: number): void {
  counts.add('requests', mode);
  if (status >= 500) counts.add('requests_failed', mode);
  else if (status >= 400) counts.add('requests_refused', mode);
}

export function createRequestHandler(
  { options: { authUrl, baseUrl, issuer, logger, prefix }, telemetry, counts }: Core,
  routes: readonly Route[],
  answerError: (ctx: Context, error: unknown, expects: Route['errors']) => Promise<void> | void,
): RequestHandler {
  // A host or a proxy may have removed these prefixes already. Longest first, because one may be below
  // another.
  const prefixes = [authUrl, baseUrl, new URL(issuer)]
    .map((url) => url.pathname.replace(/\/$/, ''))
    .filter((path) => path !== '')
    .sort((a, b) => b.length - a.length);
  const app = new Koa();
  hideTarget(app);
  const keyFormat = apiKeyFormat(prefix);
  // Paths without parameters are looked up in a map, because the router tries each of its paths on every request.
  const fixed = new Map<string, ReturnType<typeof routeHandler>>();
  const router = new Router({ sensitive: true, strict: true });
  for (const route of routes) {
    if (/[:*{}()]/.test(route.path)) router.all(route.path, routeHandler(route));
    else fixed.set(route.path, routeHandler(route));
  }

  const isRoute = (path: string, { method = 'GET' }: IncomingMessage): boolean =>
    fixed.has(path) || router.match(path, method).path.length > 0;

  /**
   * Returns the path of the request's route. If no route matches, returns all paths that were tried, such as
   * those with and without the path of a mount.
   */
  function routePaths(request: IncomingMessage): readonly string[] {
    const paths = pathsOf(request, prefixes);
    if (paths.length === 1) return paths;
    const found = paths.find((path) => isRoute(path, request));
    return found === undefined ? paths : [found];
  }

  if (telemetry !== null) app.use(measured(telemetry, authUrl.protocol.replace(':', '')));
  app.use(async (ctx, next) => {
    const paths = routePaths(ctx.req);
    const [path = '/'] = paths;
    ctx.newRouterPath = path;
    const errors = errorsBelow(paths);
    // The header concerns the whole host name, for which the host application may have set a stricter one.
    const needsHsts = authUrl.protocol === 'https:' && !ctx.res.hasHeader('Strict-Transport-Security');
    const headers: HeaderFields = { 'X-Request-Id': randomUUID(), 'X-Content-Type-Options': 'nosniff' };
    if (needsHsts) headers['Strict-Transport-Security'] = 'max-age=63072000';
    ctx.state.errors = errors;
    ctx.state.headers = headers;
    if (errors === 'partner') headers['Cache-Control'] = 'no-store';
    // Set these headers early for pages, because the engine and the host write them too. Responses of both
    // APIs set them on writing (`writeJson`).
    if (errors === 'page') {
      ctx.set(headers);
      dropHostPolicies(ctx);
    }
    try {
      // Check the size first on every path of the partner API.
      if (errors === 'partner') await refuseLongBody(ctx.req);
      await next();
    } catch (error) {
      await answerError(ctx, error, ctx.state.errors);
    }
    if (ctx.state.errors !== 'page' && ctx.respond !== false) ctx.set(headers);
    // Count under the mode that the presented key names, because a refused key belongs to no partner. Unknown paths below
    // the partner API and its description are counted too.
    if (ctx.state.errors === 'partner')
      countRequest(counts, keyFormat.modeOf(String(ctx.req.headers[apiKeyField])), ctx.status);
  });
  app.use((ctx, next) => {
    const handler = fixed.get(ctx.newRouterPath);
    if (handler === undefined) return next();
    // The router sets these for its own paths; pages of a console read them on every path.
    ctx.params = {};
    return handler(ctx);
  });
  app.use(router.routes());
  app.use(() => {
    throw new OAuthError('not_found');
  });
  // Connections that broke during the response end here. No client is left to notify.
  app.on('error', (error) => logger.debug({ err: error }, 'a response could not be sent'));

  const handle = app.callback();
  return (request, response, next) => {
    const isOwn = () => pathsOf(request, prefixes).some((path) => isRoute(path, request));
    if (next !== undefined && !isOwn()) return next();
    void handle(request, response);
  };
}
