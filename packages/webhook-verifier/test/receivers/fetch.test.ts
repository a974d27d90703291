import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhook } from '../../src/receivers/fetch.ts';
import { listening, receiverContract } from './contract.ts';

const line = '`await request.clone().json()`';

receiverContract(
  'routes of SvelteKit and Remix, which get { request, params, … }',
  async (options, handler) => {
    const POST = webhook(options, handler);
    const answer = (request: Request) => POST({ request, params: {} } as { readonly request: Request });
    return listening(createServer(getRequestListener(answer)));
  },
);

receiverContract<(request: Request) => unknown>(
  'Fetch requests',
  async (options, handler, before) => {
    const receive = webhook(options, handler);
    const answer = async (request: Request) => {
      await before?.(request);
      return receive(request);
    };
    return listening(createServer(getRequestListener(answer)));
  },
  {
    'request.clone().json()': [(request) => request.clone().json()],
    'request.json()': [(request) => request.json(), 'body_already_read', line],
    'a reader that holds the stream': [(request) => request.body?.getReader(), 'body_already_read', line],
  },
);
