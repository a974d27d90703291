import type { Server } from 'node:http';
import fastifyHelmet from '@fastify/helmet';
import { serve as serveRequests } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import express from 'express';
import { fastify } from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { mountOn } from '../../src/fastify.ts';
import { listening } from '../../src/listening.ts';
import { shop } from '../../src/node-http.ts';
import type { Serve } from './deployment.ts';

/**
 * Makes a function that serves Express behind helmet with its default settings, and with `onLogin` for the
 * login page.
 */
export function expressWithHelmet(onLogin: HelmetOptions = {}): Serve {
  return (ostiary, host, port) => {
    const app = express();
    app.use(helmet(), ostiary.handler);
    app.use('/login', helmet(onLogin));
    app.use((request, response) => shop(host, request, response));
    return listening(app.listen(port, '127.0.0.1'));
  };
}

/** Serves Fastify with helmet in front of Ostiary. */
export const fastifyWithHelmet: Serve = async (ostiary, host, port) => {
  const app = fastify();
  await app.register(fastifyHelmet);
  mountOn(app, ostiary);
  // The host reads its forms itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.all('/*', (request, reply) => {
    reply.hijack();
    return shop(host, request.raw, reply.raw);
  });
  await app.listen({ port, host: '127.0.0.1' });
  return () => app.close();
};

/**
 * Makes a function that serves Hono with its secure headers, either in front of Ostiary, where they overwrite
 * Ostiary's headers after its response, or behind Ostiary, with a policy for the host application's pages.
 */
export const honoWithSecureHeaders =
  ({ strictBehind = false } = {}): Serve =>
  (ostiary, host, port) => {
    const app = new Hono();
    if (!strictBehind) app.use(secureHeaders());
    app.use((c, next) => ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address, next }));
    if (strictBehind) app.use(secureHeaders({ contentSecurityPolicy: { formAction: ["'self'"] } }));
    app.get('/login', (c) => c.html(host.loginPage(c.req.query('return_to') ?? '')));
    app.post('/login', async (c) => {
      const { cookie, location } = host.signIn((await c.req.parseBody()) as Record<string, string>);
      c.header('Set-Cookie', cookie);
      return c.redirect(location, 303);
    });
    return listening(serveRequests({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server);
  };
