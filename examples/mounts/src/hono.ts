import type { Server } from 'node:http';
import { type HttpBindings, serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Ostiary } from '@ostiary/core';
import { Hono } from 'hono';
import type { Host } from './host.ts';
import { listening, type Stop } from './listening.ts';

/** Lets Ostiary respond before the routes that are added after this call. */
export function mountOn(app: Hono<{ Bindings: HttpBindings }>, ostiary: Ostiary): void {
  app.use((c, next) => ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address, next }));
}

/** Serves Ostiary and the host application's routes with Hono. */
export function serveHono(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  mountOn(app, ostiary);
  app.get('/login', (c) => c.html(host.loginPage(c.req.query('return_to') ?? '')));
  app.post('/login', async (c) => {
    const { cookie, location } = host.signIn((await c.req.parseBody()) as Record<string, string>);
    c.header('Set-Cookie', cookie);
    return c.redirect(location, 303);
  });
  app.get('/shop', (c) => c.text(host.shopPage(c.req.header('cookie'))));
  app.post('/shop/orders', async (c) => c.json(host.order(await c.req.json())));
  return listening(serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server);
}
