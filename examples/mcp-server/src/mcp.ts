import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Ostiary } from '@ostiary/core';
import { readText } from './body.ts';
import { type Notes, notesServer, scopesOf } from './tools.ts';

type ProtectedResource = ReturnType<Ostiary['protectedResource']>;

/**
 * Parses a JSON-RPC message; `null` for any other text. MCP has had no batches since its revision 2025-06-18:
 * a batch that cancels its own call would never get a response.
 */
function parseMessage(text: string): object | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && !Array.isArray(message) ? message : null;
  } catch {
    return null;
  }
}

/**
 * Creates the handler of requests to `/mcp`. The server keeps no session: the token of each request
 * identifies the user.
 */
export function mcpEndpoint(resource: ProtectedResource, notes: Notes) {
  const { origin } = new URL(resource.metadata.resource);

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, headers = {}) => void response.writeHead(status, headers).end();
    // Browsers send the origin of a page. The MCP specification requires this check (DNS rebinding).
    if ((request.headers.origin ?? origin) !== origin) return refuse(403);
    const text = await readText(request);
    if (text === null) return refuse(413);
    const message = parseMessage(text);
    // A tool may need a scope of its own. Without that scope the client gets 403, asks its user, and calls
    // again (step-up).
    const access = await resource.check(request, { scopes: scopesOf(message) });
    if (!access.active) {
      response.writeHead(access.status, access.headers).end(access.body);
      return;
    }
    if (request.method !== 'POST') return refuse(405, { Allow: 'POST' });
    if (message === null) return refuse(400);
    const server = notesServer(notes, access.sub);
    const transport = new StreamableHTTPServerTransport();
    response.once('close', () => void server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, message);
  };
}
