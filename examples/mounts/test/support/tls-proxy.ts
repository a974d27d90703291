import { once } from 'node:events';
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  certificate,
  privateKey,
} from '../../../../packages/core/test/webhooks/support/target-certificate.ts';

/**
 * Address that the proxy reports for every client. It is reserved for documentation (RFC 5737), so no test can
 * call from it.
 */
export const clientAddress = '203.0.113.7';

/** Settings of a TLS proxy of the tests: its port, its certificate, and its changes to headers. */
export interface ProxyOptions {
  /** Port on which the proxy listens; by default any free port. */
  readonly port?: number;
  readonly certificate?: string;
  readonly privateKey?: string;
  /**
   * `append` adds the client's address to `X-Forwarded-For`; `pass on` keeps the header as the client sent
   * it.
   */
  readonly forwards?: 'append' | 'pass on';
  /** Value to which the proxy sets a header of responses; `undefined` removes the header. */
  readonly answer?: (name: string, value: string) => string | undefined;
}

/**
 * Starts a typical proxy for Node servers: it terminates TLS, changes the `Host` header, and appends the
 * client's address to `X-Forwarded-For`.
 */
export async function startTlsProxy(options: ProxyOptions = {}) {
  const { forwards = 'append', answer = (_name: string, value: string) => value } = options;
  let target = 0;
  const credentials = { cert: options.certificate ?? certificate, key: options.privateKey ?? privateKey };
  const server = createServer(credentials, (request, response) => {
    const { method, url: path, headers } = request;
    const written = [headers['x-forwarded-for']].flat().filter(Boolean);
    const hops = forwards === 'pass on' && written.length > 0 ? written : [...written, clientAddress];
    const upstream = forward({
      ...{ host: '127.0.0.1', port: target, method, path },
      headers: {
        ...headers,
        host: 'internal.example',
        'x-forwarded-for': hops.join(', '),
        'x-forwarded-proto': 'https',
        'x-forwarded-host': headers.host ?? '',
      },
    });
    upstream.on('response', (answered) => {
      for (const [name, values = []] of Object.entries(answered.headersDistinct)) {
        const kept = values.map((value) => answer(name, value)).filter((value) => value !== undefined);
        if (kept.length > 0) response.setHeader(name, kept);
      }
      response.writeHead(answered.statusCode ?? 502);
      answered.pipe(response);
    });
    upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    request.pipe(upstream);
  }).listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sets the port of the server behind the proxy. The server is on this machine. */
    forwardTo(port: number): void {
      target = port;
    },
    async stop(): Promise<void> {
      server.close().closeAllConnections();
    },
  };
}
