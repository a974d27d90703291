import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { webhook } from '../../src/receivers/hono.ts';
import { listening, receiverContract } from './contract.ts';

const line = '`await c.req.raw.clone().json()`';

receiverContract<(context: Context) => unknown>(
  'Hono',
  async (options, handler, before) => {
    const app = new Hono();
    app.use(async (context, next) => {
      await before?.(context);
      await next();
    });
    app.post('/webhooks', webhook(options, handler));
    return listening(createServer(getRequestListener(app.fetch)));
  },
  {
    'c.req.json()': [({ req }) => req.json()],
    'c.req.text()': [({ req }) => req.text()],
    'c.req.arrayBuffer()': [({ req }) => req.arrayBuffer()],
    'c.req.raw.clone().json()': [({ req }) => req.raw.clone().json()],
    'c.req.raw.json()': [({ req }) => req.raw.json(), 'body_already_read', line],
    'a reader that holds the stream': [({ req }) => req.raw.body?.getReader(), 'body_already_read', line],
  },
);
