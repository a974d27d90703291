import { createServer } from 'node:http';
import express, { type RequestHandler } from 'express';
import { webhook } from '../../src/receivers/express.ts';
import { listening, receiverContract } from './contract.ts';

const befores: { readonly [name: string]: RequestHandler } = {
  'express.json()': express.json(),
  'express.urlencoded() and express.json()': (request, response, next) =>
    express.urlencoded()(request, response, () => express.json()(request, response, next)),
  'express.json() that keeps the bytes': express.json({
    verify: (request, _response, bytes) => {
      Object.assign(request, { rawBody: bytes });
    },
  }),
  'express.raw()': express.raw({ type: '*/*' }),
  'express.text()': express.text({ type: '*/*' }),
  'express.urlencoded()': express.urlencoded(),
  'a body parser of older versions that had nothing to parse': (request, _response, next) => {
    request.body = {};
    next();
  },
  'something that reads the stream': async (request, _response, next) => {
    for await (const _ of request);
    next();
  },
};

receiverContract(
  'Express',
  async (options, handler, before) => {
    const app = express();
    const parser = before === undefined ? undefined : befores[before];
    if (parser !== undefined) app.use(parser);
    app.post('/webhooks', webhook(options, handler));
    return listening(createServer(app));
  },
  {
    kept: [
      'express.raw()',
      'express.text()',
      'express.urlencoded()',
      'express.json() that keeps the bytes',
      'a body parser of older versions that had nothing to parse',
    ],
    lost: [
      ['express.json()', 'body_already_parsed', 'Move the route above `app.use(express.json())`'],
      ['express.urlencoded() and express.json()', 'body_already_parsed', 'req.rawBody = bytes'],
      ['something that reads the stream', 'body_already_read', 'Move the route above it'],
    ],
  },
);
