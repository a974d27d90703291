import { once } from 'node:events';
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  certificate,
  privateKey,
} from '../../../../packages/core/test/webhooks/support/target-certificate.ts';

/** Where the proxy says that every client is. */
export const clientAddress = '203.0.113.7';

/** A proxy at which TLS ends. */
export interface TlsProxy {
  readonly origin: string;
  /** The server behind it, on this machine. */
  forwardTo(port: number): void;
  stop(): Promise<void>;
}

/**
 * Starts a proxy as they stand in front of Node servers: it speaks TLS to clients and plain HTTP behind itself, changes the
 * `Host`, and appends the client's address to `X-Forwarded-For`.
 */
export async function startTlsProxy(): Promise<TlsProxy> {
  let port = 0;
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const { 'x-forwarded-for': written, ...headers } = request.headers;
    const upstream = forward({
      host: '127.0.0.1',
      port,
      method: request.method,
      path: request.url,
      headers: {
        ...headers,
        host: 'internal.example',
        'x-forwarded-for': [written, clientAddress].flat().filter(Boolean).join(', '),
        'x-forwarded-proto': 'https',
        'x-forwarded-host': request.headers.host ?? '',
      },
    });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    request.pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo(target) {
      port = target;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
