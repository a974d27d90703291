import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import type { Ostiary } from '@ostiary/core';
import type { Host } from './host.ts';
import { listening, type Stop } from './listening.ts';

/** Serves the host application's own pages, without a framework. */
export async function shop(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  switch (`${request.method} ${pathname}`) {
    case 'GET /login':
      response
        .setHeader('Content-Type', 'text/html')
        .end(host.loginPage(searchParams.get('return_to') ?? ''));
      return;
    case 'POST /login': {
      const form = Object.fromEntries(new URLSearchParams(await text(request)));
      const { cookie, location } = host.signIn(form);
      response.writeHead(303, { 'Set-Cookie': cookie, Location: location }).end();
      return;
    }
    case 'GET /shop':
      response.end(host.shopPage(request.headers.cookie));
      return;
    case 'POST /shop/orders':
      response.end(JSON.stringify(host.order((await json(request)) as { item?: unknown })));
      return;
    default:
      response.writeHead(404).end('not in this shop');
  }
}

/** Serves Ostiary and the host application's routes with plain Node. */
export function serveNodeHttp(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  const server = createServer((request, response) =>
    // Ostiary handles its own paths, and calls the callback for every other request.
    ostiary.handler(request, response, () => {
      shop(host, request, response).catch(() => response.writeHead(500).end());
    }),
  );
  return listening(server.listen(port, '127.0.0.1'));
}
