import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { webhook } from '../../src/receivers/hono.ts';
import { listening, receiverContract } from './contract.ts';

const befores: { readonly [name: string]: MiddlewareHandler } = {
  'c.req.json()': async (context, next) => {
    await context.req.json();
    await next();
  },
  'c.req.text()': async (context, next) => {
    await context.req.text();
    await next();
  },
  'c.req.arrayBuffer()': async (context, next) => {
    await context.req.arrayBuffer();
    await next();
  },
  'c.req.raw.clone().json()': async (context, next) => {
    await context.req.raw.clone().json();
    await next();
  },
  'c.req.raw.json()': async (context, next) => {
    await context.req.raw.json();
    await next();
  },
  'a reader that holds the stream': async (context, next) => {
    context.req.raw.body?.getReader();
    await next();
  },
};

receiverContract(
  'Hono',
  async (options, handler, before) => {
    const app = new Hono();
    const middleware = before === undefined ? undefined : befores[before];
    if (middleware !== undefined) app.use(middleware);
    app.post('/webhooks', webhook(options, handler));
    return listening(createServer(getRequestListener(app.fetch)));
  },
  {
    kept: ['c.req.json()', 'c.req.text()', 'c.req.arrayBuffer()', 'c.req.raw.clone().json()'],
    lost: [
      ['c.req.raw.json()', 'body_already_read', '`await c.req.raw.clone().json()`'],
      ['a reader that holds the stream', 'body_already_read', '`await c.req.raw.clone().json()`'],
    ],
  },
);
