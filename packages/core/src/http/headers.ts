import type { Context } from 'koa';

export type HeaderFields = Record<string, string>;

/** Headers of a response that must not be cached (RFC 6749, section 5.1). */
export const noStore: Readonly<HeaderFields> = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

export function setNoStore(ctx: Context): void {
  ctx.set(noStore);
}

/**
 * Names of the security headers of documents (policies) that a host application's middleware may have set
 * before this service.
 */
const documentPolicies = [
  'Content-Security-Policy',
  'Content-Security-Policy-Report-Only',
  'Cross-Origin-Embedder-Policy',
  'Cross-Origin-Embedder-Policy-Report-Only',
  'Cross-Origin-Opener-Policy',
  'Cross-Origin-Opener-Policy-Report-Only',
  'Cross-Origin-Resource-Policy',
  'Permissions-Policy',
  'Permissions-Policy-Report-Only',
  'Referrer-Policy',
  'X-Frame-Options',
];

/**
 * Removes security headers of the host application from a page of this service. The service's pages set their
 * own, and an opener policy would separate a popup from the app that opened it.
 */
export function dropHostPolicies(ctx: Context): void {
  for (const name of documentPolicies) ctx.remove(name);
}

/**
 * Responds with a page. `Referrer-Policy` is `same-origin`, because `no-referrer` makes browsers send
 * `Origin: null` with the consent form. There is no `form-action`: Chromium applies it to the whole redirect
 * chain behind a form, so the redirect back to the client would be blocked silently.
 */
export function answerPage(ctx: Context, page: { readonly html: string; readonly styleHash: string }): void {
  setDocumentHeaders(ctx, `default-src 'none'; style-src ${page.styleHash}`);
  // Keep the connection between a sign-in popup and the window that opened it: `same-origin` would cut it for
  // good.
  ctx.set('Cross-Origin-Opener-Policy', 'unsafe-none');
  ctx.type = 'html';
  ctx.body = page.html;
}

/**
 * Sets the headers of every page. @param sources - Content-Security-Policy directives for what the page may
 * load
 */
export function setDocumentHeaders(ctx: Context, sources: string): void {
  ctx.set(
    'Content-Security-Policy',
    `${sources}; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
  );
  ctx.set('X-Frame-Options', 'DENY');
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.set('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=()');
  setNoStore(ctx);
}

/**
 * Writes a JSON response with the headers of `ctx.state.headers` in one step. Koa's setters, one header after
 * the other, would take a fifth of the processor time of a userinfo request.
 */
export function writeJson(ctx: Context, status: number, json: string): void {
  const headers: HeaderFields = ctx.state.headers;
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['Content-Length'] = String(Buffer.byteLength(json));
  ctx.res.writeHead(status, headers);
  ctx.respond = false;
  if (ctx.method === 'HEAD') ctx.res.end();
  else ctx.res.end(json);
}

/** Redirects a browser with 303, so that it continues with a GET. */
export function seeOther(ctx: Context, location: string): void {
  setNoStore(ctx);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}
