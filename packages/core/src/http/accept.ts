import type { Context } from 'koa';

/** Whether the caller would rather read JSON than HTML; a caller without preference (any type) would not. */
export function prefersJson(ctx: Context): boolean {
  return ctx.accepts('html', 'json') === 'json';
}

/** Whether the caller asks for HTML by name, as browsers do, rather than for anything. */
export function isBrowser(ctx: Context): boolean {
  return /\b(text\/html|application\/xhtml\+xml)\b/i.test(ctx.get('Accept')) && !prefersJson(ctx);
}
