import { createServer, request } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhook as expressWebhook } from '@ostiary/webhook-verifier/express';
import { webhook as fastifyWebhook } from '@ostiary/webhook-verifier/fastify';
import { webhook as fetchWebhook } from '@ostiary/webhook-verifier/fetch';
import { webhook as koaWebhook } from '@ostiary/webhook-verifier/koa';
import fastify from 'fastify';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { close, listen } from '../../support/http.ts';
import { proxies, startProxy } from './plain-proxies.ts';

const options = { secret: 'a secret of sixteen characters', onError: () => undefined };
const handle = () => undefined;

/** Webhook receivers for frameworks that read the request body in different ways. */
const receivers = {
  Express: () => {
    const receive = expressWebhook(options, handle);
    return createServer((incoming, response) => void receive(incoming, response, () => response.destroy()));
  },
  Koa: () => createServer(new Koa().use(koaWebhook(options, handle)).callback()),
  Fastify: () => {
    let route: Parameters<typeof createServer>[1];
    const app = fastify({
      serverFactory: (listener) => {
        route = listener;
        return createServer(listener);
      },
    });
    app.register(fastifyWebhook(options, handle));
    return createServer((incoming, response) => void app.ready().then(() => route?.(incoming, response)));
  },
  'a Request on Node': () => createServer(getRequestListener(fetchWebhook(options, handle))),
} as const;

/** Sends a body with Node's own HTTP client. @returns the status, or the error */
function send(url: string, bytes: number, isChunked: boolean): Promise<number | string> {
  const headers = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent: false, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', (error) => resolve(error.message)).end(Buffer.alloc(bytes, 'a'));
  });
}

async function expectRefused(origin: string): Promise<void> {
  for (const megabytes of [2, 8])
    for (const isChunked of [false, true]) {
      const status = await send(origin, megabytes * 1024 * 1024, isChunked);
      expect({ megabytes, isChunked, status }).toMatchObject({ status: 413 });
    }
}

describe.each(Object.entries(receivers))(
  'a delivery that is too large for %s is refused with 413',
  (_, make) => {
    const server = make();
    let origin = '';
    beforeAll(async () => {
      origin = await listen(server);
    });
    afterAll(() => close(server));

    test('at a client of Node', () => expectRefused(origin));

    for (const [name, { program }] of Object.entries(proxies))
      test.skipIf(program === undefined)(`behind ${name}`, async () => {
        const target = Number(new URL(origin).port);
        await expectRefused(await startProxy(name as keyof typeof proxies, target));
      });
  },
);
