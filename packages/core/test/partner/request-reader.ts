import { createServer, type Socket } from 'node:net';
import type { ConsoleBackend, ConsoleVisit, PartnerConsole } from '../../src/console.ts';
import type { TestKey } from '../support/provider.ts';
import { afterwards } from '../support/running.ts';
import { shop } from './webhook-shop.ts';

/** Starts an endpoint that records all received bytes, and responds with a status. */
export async function wire() {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const self = { requests, url: '', status: 500 };
  const server = createServer((socket) => {
    sockets.add(socket);
    let read = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      read += text;
      const [head = '', body] = read.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      requests.push(read);
      read = '';
      socket.write(`HTTP/1.1 ${self.status} x\r\ncontent-length: 0\r\n\r\n`);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  afterwards(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  self.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook/%C3%A9?q=[1]`;
  return self;
}

/** Fields of an earlier webhook attempt that the console's page shows. */
export interface Shown {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly changedAt: string | null;
}

/** Starts a provider with a console that reads the deliveries of an event on behalf of a key. */
export async function reader(options: Parameters<typeof shop>[0] = {}) {
  let backend: ConsoleBackend | undefined;
  let visit: ConsoleVisit | null = null;
  const console: PartnerConsole = {
    opensWith: { scope: 'webhooks', testOnly: false },
    pages(given) {
      backend = given;
      const path = '/desk';
      return [
        {
          ...{ path, summary: 'A page.' },
          async GET(request) {
            const { session } = await given.signIn(request.query.get('key') ?? '', request);
            visit = await given.visit(session, request);
            return { status: 200 };
          },
        },
      ];
    },
  };
  const place = await shop({ console, webhooks: { retryDelaysSeconds: [60, 60] }, ...options });
  return {
    ...place,
    backend: () => backend,
    async read(key: TestKey, id: string, query = {}): Promise<(Shown | null)[][]> {
      await fetch(`${place.provider.origin}/desk?key=${key.key}`);
      const answer = await visit?.call('listEventDeliveries', { path: { id }, query });
      const { data } = answer as { data: { attempts: { request: Shown | null }[] }[] };
      return data.map(({ attempts }) => attempts.map(({ request }) => request));
    },
  };
}
