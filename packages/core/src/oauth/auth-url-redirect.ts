import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { seeOther } from '../http/headers.ts';
import type { Core } from '../options/context.ts';
import { pageUrl } from './endpoints.ts';

/**
 * Query parameter that marks a request as redirected to `authUrl`. If such a request still names another
 * host, a proxy changes the `Host` header, and another redirect would loop.
 */
const redirectedParameter = 'redirected_to_auth_url';

/**
 * Returns the host name that the browser requested, from the headers; `null` if they contain none. Ignores
 * the port, because cookies do.
 */
function requestedHostname({ headers }: IncomingMessage): string | null {
  const [forwarded = ''] = String(headers['x-forwarded-host'] ?? '').split(',');
  const host = forwarded.trim() || String(headers[':authority'] ?? headers.host ?? '');
  return host !== '' && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : null;
}

/**
 * Redirects a GET or HEAD request that names another host name of the server, such as `www.` or 127.0.0.1, to
 * the same page on `authUrl`. The cookies of a sign-in and of the host's login belong to the host name of
 * `authUrl`, and forms are accepted only from its pages.
 * @returns true if the request was redirected
 */
export function redirectedToAuthUrl(
  { options }: Core,
  ctx: Context,
  page: 'authorize' | 'logout' | 'apps',
): boolean {
  const hostname = requestedHostname(ctx.req);
  if (hostname === null || hostname === options.authUrl.hostname) return false;
  if (ctx.method === 'POST' || new URLSearchParams(ctx.querystring).has(redirectedParameter)) return false;
  const separator = ctx.querystring === '' ? '' : '&';
  seeOther(ctx, `${pageUrl(options, page)}?${ctx.querystring}${separator}${redirectedParameter}=1`);
  return true;
}
