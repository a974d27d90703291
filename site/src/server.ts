import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { root } from './repository.ts';

const dist = join(root, 'site/dist');

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};

/** Finds a file of the site, by its path or without `.html`, as hosts of static files do. */
async function fileAt(path: string): Promise<{ readonly name: string; readonly body: Buffer } | null> {
  for (const name of [path, `${path}.html`, join(path, 'index.html')]) {
    const body = await readFile(join(dist, normalize(name))).catch(() => null);
    if (body !== null) return { name, body };
  }
  return null;
}

/**
 * Passes a request of the partner API on to a service, as if the request came from the service's own pages.
 */
async function passOn(service: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: Buffer[] = [];
  for await (const chunk of request) body.push(chunk);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (/^(?:accept|content-type|idempotency-key|x-.*)$/.test(name)) headers.set(name, String(value));
  const answer = await fetch(new URL(request.url ?? '/', service), {
    method: request.method ?? 'GET',
    headers,
    ...(body.length > 0 && { body: Buffer.concat(body) }),
  });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

/**
 * Serves the documentation site on this machine, with the partner API of a service below `/v1/`. Returns the
 * site's URL.
 */
export async function startSite({
  port,
  service,
}: {
  readonly port: number;
  readonly service?: string | undefined;
}): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (service !== undefined && path.startsWith('/v1/')) return passOn(service, request, response);
    const found = await fileAt(path);
    response.writeHead(found === null ? 404 : 200, {
      'content-type': types[extname(found?.name ?? '404.html')] ?? 'application/octet-stream',
    });
    response.end(found?.body ?? (await fileAt('/404'))?.body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(502).end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, 'localhost', resolve);
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}
