import { createServer } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import Koa, { type Middleware } from 'koa';
import { webhook } from '../../src/receivers/koa.ts';
import { listening, receiverContract } from './contract.ts';

const befores: { readonly [name: string]: Middleware } = {
  '@koa/bodyparser': bodyParser(),
  'a parser that keeps nothing': async (context, next) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of context.req) chunks.push(chunk);
    Object.assign(context.request, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    await next();
  },
  'something that reads the stream': async (context, next) => {
    for await (const _ of context.req);
    await next();
  },
};

receiverContract(
  'Koa',
  async (options, handler, before) => {
    const app = new Koa();
    app.silent = true;
    const parser = before === undefined ? undefined : befores[before];
    if (parser !== undefined) app.use(parser);
    app.use(webhook(options, handler));
    return listening(createServer(app.callback()));
  },
  {
    kept: ['@koa/bodyparser'],
    lost: [
      ['a parser that keeps nothing', 'body_already_parsed', 'above `app.use(bodyParser())`'],
      ['something that reads the stream', 'body_already_read', 'Put `app.use(webhookRoute)` above it'],
    ],
  },
);
