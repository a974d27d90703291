import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhook } from '../../src/receivers/fetch.ts';
import { listening, receiverContract } from './contract.ts';

const befores: { readonly [name: string]: (request: Request) => unknown } = {
  'request.clone().json()': (request) => request.clone().json(),
  'request.json()': (request) => request.json(),
  'a reader that holds the stream': (request) => request.body?.getReader(),
};

receiverContract(
  'Fetch requests',
  async (options, handler, before) => {
    const receive = webhook(options, handler);
    const first = before === undefined ? undefined : befores[before];
    const answer = async (request: Request) => {
      await first?.(request);
      return receive(request);
    };
    return listening(createServer(getRequestListener(answer)));
  },
  {
    kept: ['request.clone().json()'],
    lost: [
      ['request.json()', 'body_already_read', '`await request.clone().json()`'],
      ['a reader that holds the stream', 'body_already_read', '`await request.clone().json()`'],
    ],
  },
);
