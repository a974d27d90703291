import type { Context } from 'koa';
import { setNoStore } from '../http/headers.ts';

/** Redirects a browser with 303, so that it continues with a GET. */
export function seeOther(ctx: Context, location: string): void {
  setNoStore(ctx);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}
