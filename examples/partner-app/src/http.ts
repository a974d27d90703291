import { contentPolicy as policyOf } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { styleHash } from './pages/layout.ts';

/** Error for a request that the shop itself refuses, without calling the provider. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: 'wrong_state';

  constructor(code: Refusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Makes the Content-Security-Policy of a page; `more` adds directives. */
export const contentPolicy = (...more: readonly string[]): string =>
  policyOf(styleHash, "img-src 'self' https: data:", ...more);

/** Sends an HTML page as the response. */
export function show(ctx: Context, html: string, status = 200): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.body = html;
}

/** Responds with a page whose parts `live.js` keeps up to date. */
export function showLive(ctx: Context, html: string): void {
  ctx.set('Content-Security-Policy', contentPolicy("script-src 'self'", "connect-src 'self'"));
  show(ctx, html);
}
