import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An event as it came in. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A partner's webhook endpoint. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** Starts an endpoint that accepts everything. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    received,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The signature that a delivery has to have. */
export function signatureOf({ headers, body }: Received, secret: string): string {
  return createHmac('sha256', secret).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
}
