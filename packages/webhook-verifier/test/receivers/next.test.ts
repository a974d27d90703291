import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { webhook } from '../../src/receivers/fetch.ts';
import { webhookApi, webhookRoute } from '../../src/receivers/next.ts';
import { listening, receiverContract } from './contract.ts';

type ApiRequest = IncomingMessage & { body?: unknown };

receiverContract<(request: ApiRequest) => Promise<void>>(
  'API routes of Next.js',
  async (options, handler, before) => {
    const route = webhookApi(options, handler);
    const answer = async (request: ApiRequest, response: ServerResponse) => {
      await before?.(request);
      await route(request, response);
    };
    return listening(createServer(answer));
  },
  {
    // Parses the body as Next.js does before an API route without `bodyParser: false`.
    'the body parser of Next.js': [
      async (request) => {
        request.body = await json(request);
      },
      'body_already_parsed',
      'export const config = { api: { bodyParser: false } };',
    ],
    'a custom server that reads the stream': [
      async (request) => {
        for await (const _ of request);
      },
      'body_already_read',
      'bodyParser: false',
    ],
  },
);

it('a route handler of Next.js is the receiver for Fetch requests', () => {
  expect(webhookRoute).toBe(webhook);
});
