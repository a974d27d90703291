import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Ostiary } from '@ostiary/core';
import { type Notes, notesServer, scopesOf } from './tools.ts';

type ProtectedResource = ReturnType<Ostiary['protectedResource']>;

/** Largest message, in bytes. */
const maxBytes = 100_000;

/** Reads a JSON-RPC message; `null` if it is too large or is not JSON. */
async function readMessage(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return null;
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return null;
  }
}

/** Answers requests to `/mcp`. The server keeps no session: each request carries a token, and says whose notes it is about. */
export function mcpEndpoint(resource: ProtectedResource, notes: Notes) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const access = await resource.check(request);
    if (!access.active) {
      response.writeHead(access.status, access.headers).end(access.body);
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405, { Allow: 'POST' }).end();
      return;
    }
    const message = await readMessage(request);
    if (message === null) {
      response.writeHead(400).end();
      return;
    }
    // A tool with a scope of its own: without it the client gets 403, asks its user for more, and calls again (step-up).
    const scopes = scopesOf(message);
    const more = scopes.length === 0 ? access : await resource.check(request, { scopes });
    if (!more.active) {
      response.writeHead(more.status, more.headers).end(more.body);
      return;
    }
    const server = notesServer(notes, access.sub);
    const transport = new StreamableHTTPServerTransport();
    response.once('close', () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, message);
  };
}
