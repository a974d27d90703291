import { createServer } from 'node:http';
import express, { type RequestHandler } from 'express';
import { webhook } from '../../src/receivers/express.ts';
import { listening, receiverContract } from './contract.ts';

const keepBytes = express.json({
  verify: (request, _response, bytes) => {
    Object.assign(request, { rawBody: bytes });
  },
});
const bothParsers: RequestHandler = (request, response, next) =>
  express.urlencoded()(request, response, () => express.json()(request, response, next));

receiverContract<RequestHandler>(
  'Express',
  async (options, handler, before) => {
    const app = express();
    if (before !== undefined) app.use(before);
    app.post('/webhooks', webhook(options, handler));
    return listening(createServer(app));
  },
  {
    'express.raw()': [express.raw({ type: '*/*' })],
    'express.text()': [express.text({ type: '*/*' })],
    'express.urlencoded()': [express.urlencoded()],
    'express.json() that keeps the bytes': [keepBytes],
    'a body parser of older versions that had nothing to parse': [
      (request, _response, next) => {
        request.body = {};
        next();
      },
    ],
    'express.json()': [
      express.json(),
      'body_already_parsed',
      'Move the route above `app.use(express.json())`',
    ],
    'express.urlencoded() and express.json()': [bothParsers, 'body_already_parsed', 'req.rawBody = bytes'],
    'something that reads the stream': [
      async (request, _response, next) => {
        for await (const _ of request);
        next();
      },
      'body_already_read',
      'Move the route above it',
    ],
  },
);
