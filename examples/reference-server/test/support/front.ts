import { request } from 'node:http';
import { createServer } from 'node:https';
import { onTestFinished } from 'vitest';
import { certificate, privateKey } from './certificates.ts';

/** What a proxy with TLS does to what passes through it. */
export interface FrontOptions {
  readonly certificate?: string;
  /** Adds who asked to `X-Forwarded-For`, or passes on what the caller wrote. */
  readonly forwards?: 'append' | 'pass on';
  /** Changes a header of an answer; `undefined` takes it away. */
  readonly answer?: (name: string, value: string) => string | undefined;
}

/** Who this proxy says that its callers are: an address of the internet (RFC 5737), which no test can call from. */
const caller = '203.0.113.9';

/** A reverse proxy with TLS before a server on this machine; it closes with the test. */
export async function startFront(
  port: number,
  target: () => number,
  options: FrontOptions = {},
): Promise<void> {
  const { forwards = 'append', answer = (_name, value) => value } = options;
  const server = createServer(
    { key: privateKey, cert: options.certificate ?? certificate },
    (incoming, outgoing) => {
      const before = incoming.headers['x-forwarded-for'];
      const appended = before === undefined ? caller : `${before}, ${caller}`;
      const headers = {
        ...incoming.headers,
        'x-forwarded-for': forwards === 'append' ? appended : (before ?? caller),
      };
      const { method, url } = incoming;
      const passed = request(
        { host: '127.0.0.1', port: target(), method, path: url, headers },
        (response) => {
          for (const [name, values] of Object.entries(response.headersDistinct)) {
            const changed = (values ?? []).map((value) => answer(name, value));
            const kept = changed.filter((value) => value !== undefined);
            if (kept.length > 0) outgoing.setHeader(name, kept);
          }
          outgoing.writeHead(response.statusCode ?? 502);
          response.pipe(outgoing);
        },
      );
      passed.on('error', () => outgoing.writeHead(502).end());
      incoming.pipe(passed);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}
