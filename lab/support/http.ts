import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Makes a server listen on the loopback address. @returns the server's origin */
export async function listen(server: Server, port = 0): Promise<string> {
  server.listen({ port, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Closes a server with all its connections. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/** Runs a server for the duration of some work. */
export async function serving<Result>(
  handler: RequestListener,
  work: (origin: string) => Promise<Result>,
): Promise<Result> {
  const server = createServer(handler);
  const origin = await listen(server);
  try {
    return await work(origin);
  } finally {
    await close(server);
  }
}

/** Reads the body of a request. @throws if the sender disconnects in the middle of the body */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** Builds a request with a JSON body. */
export function jsonPost(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** Registers a webhook endpoint as a partner does. @throws Error if the service refuses the endpoint */
export async function registerEndpoint(
  origin: string,
  apiKey: string,
  endpoint: { readonly url: string; readonly events: readonly string[]; readonly secret: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const request = jsonPost(endpoint, { 'x-api-key': apiKey, ...headers });
  const response = await fetch(`${origin}/v1/partner/webhooks`, request);
  if (response.status !== 201) throw new Error(`not registered: ${await response.text()}`);
}
