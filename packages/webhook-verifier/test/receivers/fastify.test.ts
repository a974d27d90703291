import { createServer, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { webhook } from '../../src/receivers/fastify.ts';
import { event, now, secret } from '../support/delivery.ts';
import { listening, receiverContract } from './contract.ts';

async function start(app: FastifyInstance, server: () => Server) {
  await app.ready();
  const running = await listening(server());
  return { ...running, close: () => Promise.all([running.close(), app.close()]) };
}

receiverContract<(app: FastifyInstance) => unknown>(
  'Fastify',
  async (options, handler, before) => {
    let server = createServer();
    const app = fastify({
      serverFactory(listener) {
        server = createServer(listener);
        return server;
      },
    });
    before?.(app);
    app.register(webhook(options, handler), { prefix: '/webhooks' });
    return start(app, () => server);
  },
  {
    'a parser of JSON': [
      (app) =>
        app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
          done(null, JSON.parse(text as string)),
        ),
    ],
    'a hook that replaces the body': [
      (app) =>
        app.addHook('preValidation', async (request) => {
          request.body = JSON.parse((request.body as Buffer).toString());
        }),
      'body_already_parsed',
      '`app.register(webhook(…))`',
    ],
    'a hook that reads the stream': [
      (app) =>
        app.addHook('preParsing', async (request) => {
          for await (const _ of request.raw);
        }),
      'body_already_read',
      'return Readable.from([bytes])',
    ],
  },
);

it('a receiver for Fastify does not change the parsers of other routes', async () => {
  const app = fastify();
  app.register(
    webhook({ secret, now: () => now }, () => undefined),
    { prefix: '/webhooks' },
  );
  app.post('/other', async (request) => ({ got: request.body }));
  const answer = await app.inject({ method: 'POST', url: '/other', payload: event });
  expect(answer.json()).toEqual({ got: event });
  await app.close();
});
