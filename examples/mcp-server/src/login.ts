import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication, Login, UserDirectory } from '@ostiary/core';
import { readText } from './body.ts';

const cookieName = 'notes-session';

const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Makes the users and the sign-in of the example, which accept every name without a password: put your own
 * login here.
 */
export function createLogin(site: string) {
  const sessions = new Map<string, Authentication>();
  const users: UserDirectory = { find: (sub) => ({ sub, name: sub }) };

  const login: Login = {
    authenticate({ headers }) {
      const [, id = ''] = new RegExp(`(?:^|; )${cookieName}=([^;]+)`).exec(headers.cookie ?? '') ?? [];
      return sessions.get(id) ?? null;
    },
    loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
  };

  /** Shows the sign-in page, and handles its posted form. */
  async function loginPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams } = new URL(request.url ?? '/', site);
    if (request.method !== 'POST') {
      const returnTo = escaped(searchParams.get('return_to') ?? '/');
      response
        .setHeader('Content-Type', 'text/html; charset=utf-8')
        .end(`<!doctype html><title>Sign in</title>
<form method="post"><input name="name" value="ana" required><input type="hidden" name="return_to" value="${returnTo}"><button>Sign in</button></form>`);
      return;
    }
    const body = await readText(request);
    if (body === null) {
      response.writeHead(413).end();
      return;
    }
    const form = new URLSearchParams(body);
    const sub = (form.get('name') ?? '').replace(/[^a-z0-9-]/gi, '') || 'ana';
    const id = randomBytes(16).toString('base64url');
    sessions.set(id, { sub, authenticatedAt: new Date() });
    // Redirect only within the site: a login that redirects anywhere helps phishing.
    const target = URL.parse(form.get('return_to') ?? '/', site);
    const location = target?.origin === new URL(site).origin ? target.href : '/';
    const cookie = `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Lax`;
    response.writeHead(303, { 'Set-Cookie': cookie, Location: location }).end();
  }

  return { users, login, loginPage };
}
