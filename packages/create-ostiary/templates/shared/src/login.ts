import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication } from '@ostiary/core';
import { type Answer, escaped, page } from './answer.ts';
import { sessions } from './sessions.ts';
import { authUrl } from './settings.ts';
import { checkPassword } from './users.ts';

// REPLACE THIS by your existing login. Nothing here limits how often a password can be tried.

const lifeMs = 12 * 60 * 60 * 1000;

const site = new URL(authUrl);
const isSecure = site.protocol === 'https:';
// Browsers accept a cookie with `__Host-` from this host only, and over https only. On your own machine the
// name has the port, because browsers send cookies to every port of a host, and other apps on localhost may
// have a cookie `session`, too.
const named = (name: string): string => (isSecure ? `__Host-${name}` : `${name}${site.port}`);
const [sessionCookie, formCookie] = [named('session'), named('login-form')];
// `Lax` and not `Strict`: this site must also recognize users who arrive from an app's site.
const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

const newSecret = (): string => randomBytes(32).toString('base64url');

function cookieOf(cookies: string | null | undefined, name: string): string | undefined {
  const found = (cookies ?? '').split('; ').find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** Returns the secret of the login form (CSRF protection) from this browser's cookie. */
function formSecret(cookies: string | null | undefined): string | undefined {
  const secret = cookieOf(cookies, formCookie);
  return secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : undefined;
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Returns the URL to which the browser goes after the login: always a URL of this site, so that a link
 * cannot send users elsewhere.
 */
function pageOfThisSite(returnTo: string): string {
  const target = returnTo.startsWith('/') ? URL.parse(returnTo, site) : null;
  return target?.origin === site.origin ? target.href : new URL('/', site).href;
}

/** Returns the user who is signed in in the browser that sent the given cookies. */
export function sessionOf(cookies: string | null | undefined): Authentication | null {
  const session = sessions.get(cookieOf(cookies, sessionCookie) ?? '');
  return session !== undefined && session.endsAt > Date.now() ? session : null;
}

/**
 * Ends the session of a browser. Ostiary calls this function when a user signs out at Ostiary, which an app can
 * request.
 */
export function signOut(request: IncomingMessage, response: ServerResponse): void {
  sessions.delete(cookieOf(request.headers.cookie, sessionCookie) ?? '');
  response.appendHeader('Set-Cookie', `${sessionCookie}=${attributes}; Max-Age=0`);
}

/**
 * Handles `GET /login`. Always shows the form: an app may require the password of a user who is already
 * signed in.
 */
export function loginPage(
  cookies: string | null | undefined,
  returnTo: string,
  problem?: { readonly status: number; readonly text: string },
): Answer {
  // The form must send the secret from the browser's cookie, which other sites can neither read nor set.
  const secret = formSecret(cookies) ?? newSecret();
  const form = `${problem === undefined ? '' : `<p role="alert">${problem.text}</p>`}
<form method="post" action="/login">
<input type="hidden" name="secret" value="${escaped(secret)}">
<input type="hidden" name="return_to" value="${escaped(returnTo)}">
<label>Name<input name="handle" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>`;
  return page('Sign in', form, problem?.status, `${formCookie}=${secret}${attributes}`);
}

/** Handles `POST /login`, with the fields of the login form. */
export async function signIn(
  cookies: string | null | undefined,
  form: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const field = (name: string): string => String(form[name] ?? '');
  const again = (status: number, text: string): Answer =>
    loginPage(cookies, field('return_to'), { status, text });
  if (!isSame(field('secret'), formSecret(cookies) ?? newSecret()))
    return again(403, 'This page was too old. Please try again.');
  const user = await checkPassword(field('handle'), field('password'));
  if (user === null) return again(401, 'Wrong name or password.');

  const now = Date.now();
  for (const [id, { endsAt }] of sessions) if (endsAt <= now) sessions.delete(id);
  // End the old session and use a new id: somebody may have known the old id.
  sessions.delete(cookieOf(cookies, sessionCookie) ?? '');
  const id = newSecret();
  sessions.set(id, { sub: user.sub, authenticatedAt: new Date(now), endsAt: now + lifeMs });
  const headers = {
    Location: pageOfThisSite(field('return_to')),
    'Set-Cookie': `${sessionCookie}=${id}${attributes}; Max-Age=${lifeMs / 1000}`,
    'Cache-Control': 'no-store',
  };
  return { status: 303, headers, body: '' };
}

/** Handles `GET /`: a page to start from. */
export function homePage(cookies: string | null | undefined): Answer {
  const session = sessionOf(cookies);
  const text = session === null ? 'Nobody is signed in.' : `Signed in as ${escaped(session.sub)}.`;
  return page(
    '{{name}}',
    `<p>${text} <a href="/login">Sign in</a> · <a href="/account/apps">Your apps</a></p>`,
  );
}
