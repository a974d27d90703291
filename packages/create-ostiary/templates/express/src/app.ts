import type { Ostiary } from '@ostiary/core';
import express, { type Express, type Response } from 'express';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { homePage, loginPage, signIn } from './login.ts';
// <mcp>
import { mcp, mcpPaths } from './mcp.ts';

// </mcp>

function send(response: Response, { status, headers, body }: Answer): void {
  response.status(status).set(headers).end(body);
}

/** Makes the server, for src/server.ts and for tests. */
export function createApp(ostiary: Ostiary): Express {
  const app = express();
  // Before the body parsers: signatures of the partner API are checked over the bytes as they were sent.
  app.use(ostiary.handler);
  // <mcp>
  app.all(mcpPaths, async (request, response) => send(response, await mcp(ostiary, request, request)));
  // </mcp>
  app.use(express.urlencoded({ extended: false, limit: '10kb' }));

  app.get('/', (request, response) => send(response, homePage(request.headers.cookie)));
  app.get('/login', (request, response) =>
    send(response, loginPage(request.headers.cookie, String(request.query.return_to ?? '/'))),
  );
  app.post('/login', async (request, response) =>
    send(response, await signIn(request.headers.cookie, request.body ?? {})),
  );
  app.get('/api/me', async (request, response) =>
    send(response, await me(ostiary, request.headers.authorization)),
  );
  return app;
}
