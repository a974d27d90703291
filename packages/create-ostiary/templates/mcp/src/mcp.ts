import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Ostiary, ResourceRequest } from '@ostiary/core';
import type { Answer } from './answer.ts';
import { mcpUrl, requiredScopes } from './assistants.ts';
import { mcpServer, scopesOf } from './tools.ts';
import { findUser } from './users.ts';

/** Paths of the MCP server and of its metadata document, from which assistants learn where users sign in. */
export const mcpPaths = ['/mcp', '/.well-known/oauth-protected-resource/mcp'];

/** Maximum size of a request body, in bytes. */
const maxBytes = 100_000;

const { origin } = new URL(mcpUrl);

function headersOf({ headers }: ResourceRequest): Headers {
  if (headers instanceof Headers) return headers;
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
}

/**
 * Reads a request body; `null` if it is too long. Reads a body that is too long to its end as well, so that
 * the client gets a response.
 */
async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  return size > maxBytes ? null : Buffer.concat(chunks).toString();
}

/**
 * Parses a JSON-RPC message; `null` for any other text. MCP has had no batches since its revision 2025-06-18: a
 * batch that cancels its own call would never get a response.
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
 * Handles the requests of assistants: `POST /mcp`, and `GET` of the metadata document. Keeps no session: the
 * token of each request identifies the user.
 *
 * @param body - body of the request, of which nothing has been read
 */
export async function mcp(
  ostiary: Ostiary,
  request: ResourceRequest,
  body: AsyncIterable<Uint8Array> | null,
): Promise<Answer> {
  const resource = ostiary.protectedResource({ resource: mcpUrl, scopes: requiredScopes });
  const document = resource.metadataAnswer(request);
  if (document !== null) return document;

  const headers = headersOf(request);
  // Browsers send the origin of a page. The MCP specification requires this check (DNS rebinding).
  if ((headers.get('origin') ?? origin) !== origin) return { status: 403, headers: {}, body: null };
  const text = await textOf(body);
  if (text === null) return { status: 413, headers: {}, body: null };
  const message = parseMessage(text);
  // If the tool needs a scope that the token lacks, the assistant gets 403, asks its user, and calls again.
  const access = await resource.check(request, { scopes: scopesOf(message) });
  if (!access.active) return access;
  const user = findUser(access.sub);
  if (user === null) {
    const challenge = `Bearer error="invalid_token", resource_metadata="${resource.metadataUrl}"`;
    return { status: 401, headers: { 'WWW-Authenticate': challenge }, body: null };
  }
  if (request.method !== 'POST') return { status: 405, headers: { Allow: 'POST' }, body: null };
  if (message === null) return { status: 400, headers: {}, body: null };

  const server = mcpServer(user);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(new Request(mcpUrl, { method: 'POST', headers }), {
    parsedBody: message,
  });
  const answer = {
    status: response.status,
    headers: { ...Object.fromEntries(response.headers), 'Cache-Control': 'no-store' },
    body: response.body === null ? null : await response.text(),
  };
  await server.close();
  return answer;
}
