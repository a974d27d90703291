import { serve } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { describe, expect, it, vi } from 'vitest';
import { listening } from '../src/listening.ts';
import { ask } from './support/ask.ts';
import { type Deployment, deployed } from './support/deployment.ts';

// The machines that run these tests may be slow and busy.
vi.setConfig({ testTimeout: 60_000 });

const belowV1 = /^\/v1(\/|$)/i;
const browser = { accept: 'text/html' };

/**
 * Checks that the host application serves its own paths below `/v1/`, and that Ostiary responds in JSON to
 * all other paths below `/v1/`.
 */
async function expectBoth({ site }: Deployment): Promise<void> {
  const order = await ask(`${site}/v1/orders`, { headers: browser });
  expect([order.status, order.text]).toEqual([200, 'the orders of the shop']);
  for (const path of ['/v1/nothing', '/V1/Partner/nothing', '/v1/orders/1', '/v1/partner/']) {
    const answer = await ask(`${site}${path}`, { headers: browser });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('content-type'), path).toMatch(/^application\/json/);
    expect(answer.json()[/partner/i.test(path) ? 'code' : 'error'], path).toBe('not_found');
  }
  expect((await ask(`${site}/v1/partner/whoami`)).json().code).toBe('invalid_api_key');
  // Unknown paths elsewhere are left to the host.
  const missing = await ask(`${site}/nowhere`, { headers: browser });
  expect([missing.status, missing.headers.get('x-request-id')]).toEqual([404, null]);
}

describe('a host with its own route below /v1/', () => {
  it('keeps it, and lets Ostiary say that there is nothing else: Express', async () => {
    await deployed((ostiary, _host, port) => {
      const app = express();
      app.use(ostiary.handler);
      app.get('/v1/orders', (_request, response) => void response.send('the orders of the shop'));
      app.use((request, response, next) =>
        belowV1.test(request.path) ? ostiary.handler(request, response) : next(),
      );
      return listening(app.listen(port, '127.0.0.1'));
    }, expectBoth);
  });

  it('keeps it, and lets Ostiary say that there is nothing else: Hono', async () => {
    await deployed((ostiary, _host, port) => {
      const app = new Hono();
      app.use((c, next) => ostiary.fetch(c.req.raw, { next }));
      app.get('/v1/orders', (c) => c.text('the orders of the shop'));
      app.notFound((c) => (belowV1.test(c.req.path) ? ostiary.fetch(c.req.raw) : c.text('nothing', 404)));
      return listening(serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as never);
    }, expectBoth);
  });
});
