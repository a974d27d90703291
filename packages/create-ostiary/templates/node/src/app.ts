import type { IncomingMessage, RequestListener } from 'node:http';
import type { Ostiary } from '@ostiary/core';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { homePage, loginPage, signIn } from './login.ts';
// <mcp>
import { mcp, mcpPaths } from './mcp.ts';

// </mcp>

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 10_000) throw new Error('this is no login form');
  }
  return Object.fromEntries(new URLSearchParams(body));
}

async function answer(ostiary: Ostiary, request: IncomingMessage): Promise<Answer> {
  const target = URL.parse(request.url ?? '/', 'http://localhost');
  if (target === null) return { status: 400, headers: {}, body: null };
  const { pathname, searchParams } = target;
  const { cookie, authorization } = request.headers;
  // <mcp>
  if (mcpPaths.includes(pathname)) return mcp(ostiary, request, request);
  // </mcp>
  switch (`${request.method} ${pathname}`) {
    case 'GET /':
      return homePage(cookie);
    case 'GET /login':
      return loginPage(cookie, searchParams.get('return_to') ?? '/');
    case 'POST /login':
      return signIn(cookie, await formOf(request));
    case 'GET /api/me':
      return me(ostiary, authorization);
    default:
      return { status: 404, headers: {}, body: 'Not found' };
  }
}

/** Makes the server, for src/server.ts and for tests. */
export const createApp =
  (ostiary: Ostiary): RequestListener =>
  (request, response) =>
    // Ostiary handles its own paths, and calls the callback for every other request.
    ostiary.handler(request, response, () => {
      answer(ostiary, request).then(
        ({ status, headers, body }) => response.writeHead(status, headers).end(body),
        (error) => {
          console.error(error);
          response.writeHead(500).end();
        },
      );
    });
