import { contentPolicy } from '@ostiary/web-kit';
import type { Context } from 'koa';

/**
 * Returns the headers of every page. The referrer policy is `same-origin` because `no-referrer` makes
 * browsers send `Origin: null` with this server's own forms.
 */
export function pageHeaders(authUrl: string, styleHash: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': contentPolicy(styleHash, "img-src 'self' data:"),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    // Lets a sign-in in a popup keep the reference to the window that opened it. `same-origin` would cut the
    // popup off from the app.
    'Cross-Origin-Opener-Policy': 'unsafe-none',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cache-Control': 'no-store',
    Vary: 'Accept-Language, Cookie',
    ...(authUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}

/**
 * Extends the Content-Security-Policy of a response, so that the page may run this server's own script files.
 */
export function allowScript(ctx: Context): void {
  ctx.set('Content-Security-Policy', `${ctx.response.get('Content-Security-Policy')}; script-src 'self'`);
}
