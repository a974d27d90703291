import type { Context } from 'koa';
import { setNoStore } from '../http/headers.ts';

/**
 * Names of headers that are not copied from a host application's `Response`, because they describe another
 * body, another connection or a redirect.
 */
const ours = new Set(['content-encoding', 'transfer-encoding', 'connection', 'location']);

/**
 * Checks whether a value is a `Response`. Reads its members instead of its class, because servers such as Hono's
 * replace the global class, and `fetch` still returns objects of Node's own.
 */
function isResponse(value: unknown): value is Response {
  if (typeof value !== 'object' || value === null) return false;
  const { headers, arrayBuffer } = value as Partial<Response>;
  return typeof arrayBuffer === 'function' && typeof headers?.getSetCookie === 'function';
}

/**
 * Responds with a page that the host application rendered. The page must not be cached or framed. The host
 * decides what the page may load.
 * @param call - name of the host's function that returned the page, for the error text
 * @throws TypeError if `page` is neither text nor a Response
 */
export async function answerHostPage(ctx: Context, call: string, page: unknown): Promise<void> {
  if (typeof page !== 'string' && !isResponse(page))
    throw new TypeError(`${call}: must return HTML as text, or a Response`);
  const body = typeof page === 'string' ? page : Buffer.from(await page.arrayBuffer());
  ctx.set('Content-Security-Policy', "frame-ancestors 'none'");
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('Cross-Origin-Opener-Policy', 'unsafe-none');
  ctx.type = 'html';
  if (typeof page !== 'string') {
    for (const [name, value] of page.headers)
      if (!ours.has(name) && name !== 'set-cookie') ctx.set(name, value);
    for (const cookie of page.headers.getSetCookie()) ctx.append('Set-Cookie', cookie);
  }
  ctx.set('X-Frame-Options', 'DENY');
  setNoStore(ctx);
  ctx.body = body;
}

/**
 * Returns the URL of the host application's own consent page for an interaction. Its path must contain the
 * interaction's id; without it, the cookies of two tabs would overwrite each other.
 * @param interactionUrl - value of the option with this name
 * @throws TypeError for a URL of another origin, or without the id in its path
 */
export function hostPageUrl(interactionUrl: (id: string) => string, id: string, authUrl: URL): URL {
  const url = interactionUrl(id);
  const page = typeof url === 'string' && URL.canParse(url, authUrl.href) ? new URL(url, authUrl) : null;
  if (page?.origin === authUrl.origin && page.pathname.includes(id)) return page;
  throw new TypeError('interactionUrl: must return a URL on the origin of authUrl, with the id in its path');
}
