import type { Ostiary } from '@ostiary/core';
import { type FastifyInstance, fastify } from 'fastify';
import type { Host } from './host.ts';
import type { Stop } from './listening.ts';

/** Lets Ostiary respond in a hook, before Fastify reads a body, also at paths without a route. */
export function mountOn(app: FastifyInstance, ostiary: Ostiary): void {
  app.addHook('onRequest', (request, reply, done) => {
    let passed = false;
    ostiary.handler(request.raw, reply.raw, () => {
      passed = true;
      done();
    });
    // Ostiary responds itself, so Fastify must not.
    if (!passed) reply.hijack();
  });
}

/** Serves Ostiary and the host application's routes with Fastify. */
export async function serveFastify(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  const app = fastify();
  mountOn(app, ostiary);
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(String(body))));
    },
  );

  app.get<{ Querystring: { return_to?: string } }>('/login', async (request, reply) =>
    reply.type('text/html').send(host.loginPage(request.query.return_to ?? '')),
  );
  app.post<{ Body: Record<string, string> }>('/login', async (request, reply) => {
    const { cookie, location } = host.signIn(request.body);
    return reply.header('set-cookie', cookie).redirect(location, 303);
  });
  app.get('/shop', async (request) => host.shopPage(request.headers.cookie));
  app.post<{ Body: { item?: unknown } }>('/shop/orders', async (request) => host.order(request.body));

  await app.listen({ port, host: '127.0.0.1' });
  return () => app.close();
}
