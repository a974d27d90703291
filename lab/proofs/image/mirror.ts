import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { run } from '../../support/program.ts';

/** Makes a certificate authority, and a certificate of it for `localhost`. */
async function makeCertificates(folder: string) {
  const path = (name: string) => join(folder, name);
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  await run('openssl', [
    ...request,
    ...['-keyout', path('ca.key'), '-out', path('ca.pem'), '-subj', '/CN=Company CA'],
  ]);
  await run('openssl', [
    ...request,
    ...['-keyout', path('mirror.key'), '-out', path('mirror.pem'), '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-CA', path('ca.pem'), '-CAkey', path('ca.key')],
  ]);
  return {
    authority: path('ca.pem'),
    key: await readFile(path('mirror.key')),
    cert: await readFile(path('mirror.pem')),
  };
}

/** A mirror of the npm registry, whose certificate authority no program trusts by default. */
export type Mirror = Awaited<ReturnType<typeof startMirror>>;

/** Starts a mirror of the configured npm registry on the loopback address. */
export async function startMirror(folder: string) {
  const registry = await run('npm', ['config', 'get', 'registry'], folder);
  const { authority, key, cert } = await makeCertificates(folder);
  let downloads = 0;
  const server = createServer({ key, cert }, async ({ method, url = '/', headers }, response) => {
    if (method !== 'GET') return void response.writeHead(405).end();
    const { accept = '*/*' } = headers;
    const answer = await fetch(new URL(url.slice(1), registry), { headers: { accept } }).catch(() => null);
    const body = await answer?.arrayBuffer().catch(() => undefined);
    if (answer === null || body === undefined) return void response.writeHead(502).end();
    if (url.endsWith('.tgz')) downloads += 1;
    const type = answer.headers.get('content-type') ?? 'application/octet-stream';
    response.writeHead(answer.status, { 'content-type': type }).end(Buffer.from(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `https://localhost:${address.port}/`,
    /** File of the certificate authority. */
    authority,
    /** Number of packages that were downloaded. */
    downloads: () => downloads,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
