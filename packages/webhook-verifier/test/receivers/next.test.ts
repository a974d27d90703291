import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { expect, it } from 'vitest';
import { webhook } from '../../src/receivers/fetch.ts';
import { webhookApi, webhookRoute } from '../../src/receivers/next.ts';
import { listening, receiverContract } from './contract.ts';

type ApiRequest = IncomingMessage & { body?: unknown };

/** What Next.js does before an API route without `bodyParser: false`. */
async function parse(request: ApiRequest): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  request.body = JSON.parse(Buffer.concat(chunks).toString());
}

receiverContract(
  'API routes of Next.js',
  async (options, handler, before) => {
    const route = webhookApi(options, handler);
    const answer = async (request: ApiRequest, response: ServerResponse) => {
      if (before === 'the body parser of Next.js') await parse(request);
      if (before === 'a custom server that reads the stream') for await (const _ of request);
      await route(request, response);
    };
    return listening(createServer(answer));
  },
  {
    kept: [],
    lost: [
      [
        'the body parser of Next.js',
        'body_already_parsed',
        'export const config = { api: { bodyParser: false } };',
      ],
      ['a custom server that reads the stream', 'body_already_read', 'bodyParser: false'],
    ],
  },
);

receiverContract(
  'route handlers of Next.js',
  async (options, handler) => listening(createServer(getRequestListener(webhookRoute(options, handler)))),
  { kept: [], lost: [] },
);

it('a route handler of Next.js is the receiver for Fetch requests', () => {
  expect(webhookRoute).toBe(webhook);
});
