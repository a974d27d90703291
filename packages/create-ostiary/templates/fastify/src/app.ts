import type { Ostiary } from '@ostiary/core';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { homePage, loginPage, signIn } from './login.ts';
// <mcp>
import { mcp, mcpPaths } from './mcp.ts';

// </mcp>

function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}

/** Makes the server, for src/server.ts and for tests. */
export function createApp(ostiary: Ostiary): FastifyInstance {
  const app = fastify();
  // This hook runs before Fastify reads the body, also for paths without a route.
  app.addHook('onRequest', (request, reply, done) => {
    let passed = false;
    ostiary.handler(request.raw, reply.raw, () => {
      passed = true;
      done();
    });
    // Ostiary responds itself, so Fastify must not.
    if (!passed) reply.hijack();
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 10_000 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );

  // <mcp>
  app.register(async (own) => {
    // Leave the body to the MCP server.
    own.removeAllContentTypeParsers();
    own.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const path of mcpPaths)
      own.all(path, async ({ raw }, reply) => send(reply, await mcp(ostiary, raw, raw)));
  });
  // </mcp>

  app.get('/', (request, reply) => send(reply, homePage(request.headers.cookie)));
  app.get<{ Querystring: { return_to?: string } }>('/login', (request, reply) =>
    send(reply, loginPage(request.headers.cookie, String(request.query.return_to ?? '/'))),
  );
  app.post<{ Body?: Record<string, string> }>('/login', async (request, reply) =>
    send(reply, await signIn(request.headers.cookie, request.body ?? {})),
  );
  app.get('/api/me', async (request, reply) => send(reply, await me(ostiary, request.headers.authorization)));
  return app;
}
