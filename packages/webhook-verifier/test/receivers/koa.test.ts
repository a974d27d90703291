import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { bodyParser } from '@koa/bodyparser';
import Koa, { type Middleware } from 'koa';
import { webhook } from '../../src/receivers/koa.ts';
import { listening, receiverContract } from './contract.ts';

receiverContract<Middleware>(
  'Koa',
  async (options, handler, before) => {
    const app = new Koa();
    app.silent = true;
    if (before !== undefined) app.use(before);
    app.use(webhook(options, handler));
    return listening(createServer(app.callback()));
  },
  {
    '@koa/bodyparser': [bodyParser()],
    'a parser that keeps nothing': [
      async (context, next) => {
        Object.assign(context.request, { body: await json(context.req) });
        await next();
      },
      'body_already_parsed',
      'above `app.use(bodyParser())`',
    ],
    'something that reads the stream': [
      async (context, next) => {
        for await (const _ of context.req);
        await next();
      },
      'body_already_read',
      'Put `app.use(webhookRoute)` above it',
    ],
  },
);
