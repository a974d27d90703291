import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { type Authentication, createOstiary, type Ostiary } from '@ostiary/core';
import { ana } from '../../../../packages/core/test/support/directory.ts';
import { TestClock } from '../../../../packages/core/test/support/provider.ts';
import {
  certificate,
  privateKey,
} from '../../../../packages/core/test/webhooks/support/target-certificate.ts';

/** A deployment of Ostiary over TLS, in a host that has a login page. */
export interface Deployment {
  readonly ostiary: Ostiary;
  readonly origin: string;
  readonly clock: TestClock;
  stop(): Promise<void>;
}

/** How long it takes a person to sign in. */
const typingMs = 3_000;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

const loginPage = (returnTo: string): string => `<!doctype html><title>Sign in</title>
<form id="sign-in" method="post" action="/login"><input name="username">
<input type="hidden" name="return_to" value="${escaped(returnTo)}"><button>Sign in</button></form>`;

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return new URLSearchParams(text);
}

/** The login of the host: a form that believes every name, and a session cookie. */
function createLogin(clock: TestClock) {
  const sessions = new Map<string, Authentication>();
  return {
    sessionOf(request: IncomingMessage): Authentication | null {
      const id = /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
      return sessions.get(id) ?? null;
    },
    async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://host.invalid');
      if (pathname !== '/login') {
        response.writeHead(404).end();
        return;
      }
      if (request.method !== 'POST') {
        response.setHeader('Content-Type', 'text/html').end(loginPage(searchParams.get('return_to') ?? ''));
        return;
      }
      const form = await formOf(request);
      clock.advance(typingMs);
      const id = randomBytes(16).toString('base64url');
      sessions.set(id, { sub: form.get('username') ?? '', authenticatedAt: new Date(clock.now()) });
      response.setHeader('Set-Cookie', `session=${id}; Path=/; Secure; HttpOnly; SameSite=Lax`);
      response.writeHead(303, { Location: form.get('return_to') ?? '/' }).end();
    },
  };
}

/** Starts the deployment on a free port, with the options that a new installation has. */
export async function deploy(): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-conformance-'));
  const clock = new TestClock();
  const login = createLogin(clock);
  const server = createServer({ cert: certificate, key: privateKey });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ostiary = await createOstiary({
    authUrl: origin,
    storage: sqliteStorage({ file: join(folder, 'ostiary.db') }),
    sealingKeys: [randomBytes(32)],
    users: { find: (sub) => (sub === ana.sub ? ana : null) },
    login: {
      authenticate: login.sessionOf,
      loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    },
    clock,
  });
  server.on('request', (request, response) =>
    ostiary.handler(request, response, () => void login.answer(request, response)),
  );
  return {
    ostiary,
    origin,
    clock,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await ostiary.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
