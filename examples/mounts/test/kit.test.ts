import 'reflect-metadata';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Ostiary } from '@ostiary/core';
import { createTestOstiary, type TestServer } from '@ostiary/testing';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { expect, it } from 'vitest';
import { mountOn as mountOnFastify } from '../src/fastify.ts';
import { mountOn as mountOnHono } from '../src/hono.ts';
import { mountOn as mountOnKoa } from '../src/koa.ts';

const hello = 'a page of the host';

/**
 * Servers of each framework in the form that a test passes to the test kit: with Ostiary and a page of the
 * host application.
 */
const servers: { readonly [framework: string]: (ostiary: Ostiary) => TestServer | Promise<TestServer> } = {
  'node:http': (ostiary) => (request, response) =>
    ostiary.handler(request, response, () => response.end(hello)),
  Express: (ostiary) =>
    express()
      .use(ostiary.handler)
      .get('/hello', (_request, response) => void response.send(hello)),
  Koa(ostiary) {
    const app = new Koa();
    mountOnKoa(app, ostiary);
    app.use((ctx) => {
      ctx.body = hello;
    });
    return app.callback();
  },
  async Fastify(ostiary) {
    const app = fastify();
    mountOnFastify(app, ostiary);
    app.get('/hello', async () => hello);
    await app.ready();
    return app.routing;
  },
  async NestJS(ostiary) {
    class AppModule {}
    const app = await NestFactory.create<NestExpressApplication>(
      { module: AppModule },
      { logger: ['error'] },
    );
    app.use(ostiary.handler);
    app.use('/hello', (_request: unknown, response: { send(text: string): void }) => response.send(hello));
    await app.init();
    return app.getHttpAdapter().getInstance();
  },
  Hono(ostiary) {
    const app = new Hono<{ Bindings: HttpBindings }>();
    mountOnHono(app, ostiary);
    app.get('/hello', (c) => c.text(hello));
    // The mount reads the address of Node's socket, so `app.fetch` alone is not enough.
    return getRequestListener(app.fetch);
  },
  // A route handler is a function of the request; the host's page is a separate route.
  'Next.js': (ostiary) => ({
    fetch: (request) =>
      new URL(request.url).pathname === '/hello' ? new Response(hello) : ostiary.fetch(request),
  }),
};

it.each(Object.entries(servers))('%s serves a kit without a port', async (_framework, serverOf) => {
  const rest = { kid: 'KID', role: 'member', country: 'HT', createdAt: '2026-01-01T00:00:00.000Z' };
  await using kit = await createTestOstiary({
    users: { find: (sub) => ({ sub, ...rest }) },
    login: {
      authenticate: () => ({ sub: 'ana', authenticatedAt: new Date() }),
      loginUrl: () => '/login',
    },
  });
  kit.serve(await serverOf(kit.ostiary));
  expect((await kit.browser().open('/hello')).text).toBe(hello);
  const app = await kit.app({ allowedScopes: ['openid'] });
  expect((await app.signIn()).userinfo).toEqual({ sub: 'ana', ...rest });
});
