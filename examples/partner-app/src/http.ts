import type { Context } from 'koa';
import { styleHash } from './pages/layout.ts';

/** The shop itself says no, whatever the provider would say. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: 'wrong_state' | 'invalid_request';

  constructor(code: Refusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** What a page may do; `more` adds to it. */
export function contentPolicy(...more: readonly string[]): string {
  const common = ["default-src 'none'", `style-src '${styleHash}'`, "img-src 'self' https: data:"];
  return [...common, "base-uri 'none'", "frame-ancestors 'none'", ...more].join('; ');
}

/** Answers with a page. */
export function show(ctx: Context, html: string, status = 200): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.body = html;
}

/** Answers with a page whose parts `live.js` keeps up to date. */
export function showLive(ctx: Context, html: string): void {
  ctx.set('Content-Security-Policy', contentPolicy("script-src 'self'", "connect-src 'self'"));
  show(ctx, html);
}

/** Sends the browser on after a form. */
export function seeOther(ctx: Context, address: string): void {
  ctx.status = 303;
  ctx.set('Location', address);
}

export async function readForm(ctx: Context): Promise<URLSearchParams> {
  let body = '';
  for await (const chunk of ctx.req.setEncoding('latin1')) {
    body += chunk;
    if (body.length > 4_096) throw new Refusal('invalid_request', 'The form is too large.');
  }
  return new URLSearchParams(body);
}
