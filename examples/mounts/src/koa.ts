import { once } from 'node:events';
import { json, text } from 'node:stream/consumers';
import type { Ostiary } from '@ostiary/core';
import Koa from 'koa';
import type { Host } from './host.ts';
import { listening, type Stop } from './listening.ts';

/** Lets Ostiary respond before the middleware that is added after this call. */
export function mountOn(app: Koa, ostiary: Ostiary): void {
  app.use(async (ctx, next) => {
    let passed = false;
    ostiary.handler(ctx.req, ctx.res, () => {
      passed = true;
    });
    if (passed) return next();
    // Ostiary responds itself, so Koa must not. Middleware that measures requests waits for the end of the
    // response.
    ctx.respond = false;
    await once(ctx.res, 'close');
  });
}

/** Serves Ostiary and the host application's routes with Koa. */
export function serveKoa(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  const app = new Koa();
  mountOn(app, ostiary);
  app.use(async (ctx) => {
    switch (`${ctx.method} ${ctx.path}`) {
      case 'GET /login':
        ctx.type = 'html';
        ctx.body = host.loginPage(String(ctx.query.return_to ?? ''));
        return;
      case 'POST /login': {
        const { cookie, location } = host.signIn(
          Object.fromEntries(new URLSearchParams(await text(ctx.req))),
        );
        ctx.set('Set-Cookie', cookie);
        ctx.redirect(location);
        ctx.status = 303;
        return;
      }
      case 'GET /shop':
        ctx.body = host.shopPage(ctx.headers.cookie);
        return;
      case 'POST /shop/orders':
        ctx.body = host.order((await json(ctx.req)) as { item?: unknown });
    }
  });
  return listening(app.listen(port, '127.0.0.1'));
}
