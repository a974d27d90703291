import { getConnInfo } from '@hono/node-server/conninfo';
import type { Ostiary } from '@ostiary/core';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { homePage, loginPage, signIn } from './login.ts';
// <mcp>
import { mcp, mcpPaths } from './mcp.ts';

// </mcp>

const send = ({ status, headers, body }: Answer): Response => new Response(body, { status, headers });

/** Makes the server, for src/server.ts and for tests. */
export function createApp(ostiary: Ostiary): Hono {
  const app = new Hono();
  // Take the client's address from the socket: rate limits are counted by it.
  app.use((c, next) => ostiary.fetch(c.req.raw, { address: getConnInfo(c).remote.address, next }));

  // <mcp>
  for (const path of mcpPaths)
    app.all(path, async (c) => send(await mcp(ostiary, c.req.raw, c.req.raw.body)));
  // </mcp>
  app.get('/', (c) => send(homePage(c.req.header('cookie'))));
  app.get('/login', (c) => send(loginPage(c.req.header('cookie'), c.req.query('return_to') ?? '/')));
  app.post('/login', bodyLimit({ maxSize: 10_000 }), async (c) =>
    send(await signIn(c.req.header('cookie'), await c.req.parseBody())),
  );
  app.get('/api/me', async (c) => send(await me(ostiary, c.req.header('authorization'))));
  return app;
}
