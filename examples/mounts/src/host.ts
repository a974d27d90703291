import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Authentication, PaymentRail, UserDirectory, UserRecord } from '@ostiary/core';

/**
 * An application before Ostiary is added to it: users, sessions, a login, its own pages, and a payment rail.
 */
export interface Host {
  readonly users: UserDirectory;
  readonly payments: PaymentRail;
  /** Returns the user who is signed in in the browser that sent a request, or `null`. */
  sessionOf(request: IncomingMessage): Authentication | null;
  loginPage(returnTo: string): string;
  /** Signs a user in. Returns the session cookie, and the URL to which the browser goes next. */
  signIn(form: LoginForm): { readonly cookie: string; readonly location: string };
  /** Makes a page that shows the signed-in user. `cookies` is the value of the `Cookie` header. */
  shopPage(cookies: string | undefined): string;
  order(body: { readonly item?: unknown } | undefined): { readonly ordered: string };
}

/** Fields of the login form. */
export interface LoginForm {
  readonly username?: string;
  readonly return_to?: string;
}

const ana: UserRecord = {
  sub: 'user-ana',
  kid: 'KID-ANA',
  role: 'member',
  country: 'HT',
  createdAt: '2024-03-01T12:00:00.000Z',
  name: 'Ana Joseph',
  handle: 'ana',
  avatarUrl: null,
  kycTier: 2,
  kycStatus: 'approved',
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Makes the application of these examples. Its login accepts every name, to keep the examples short.
 *
 * @param site - origin of its pages, such as `https://example.com`
 */
export function createHost(site: string): Host {
  const sessions = new Map<string, Authentication>();
  const secure = site.startsWith('https:') ? '; Secure' : '';
  const signedIn = (cookies = ''): Authentication | null =>
    sessions.get(/(?:^|; )shop-session=([^;]+)/.exec(cookies)?.[1] ?? '') ?? null;

  return {
    users: {
      find: (sub) => (sub === ana.sub ? ana : null),
      findByKid: (kid) => (kid === ana.kid ? ana : null),
      findByPhone: (phone) => (phone === '+50937000001' ? ana : null),
    },
    payments: { execute: async () => ({ status: 'completed' }) },
    sessionOf: (request) => signedIn(request.headers.cookie),
    loginPage: (
      returnTo,
    ) => `<!doctype html><title>Sign in</title><form id="sign-in" method="post" action="/login">
<input name="username" value="${ana.sub}"><input type="hidden" name="return_to" value="${escaped(returnTo)}">
<button>Sign in</button></form>`,
    signIn({ username = '', return_to: returnTo = '/' }) {
      const id = randomBytes(16).toString('base64url');
      sessions.set(id, { sub: username, authenticatedAt: new Date() });
      // Redirect only within the site: a login that redirects anywhere helps phishing.
      const target = URL.canParse(returnTo, site) ? new URL(returnTo, site) : new URL(site);
      const isOwn = target.origin === new URL(site).origin;
      return {
        cookie: `shop-session=${id}; Path=/; HttpOnly; SameSite=Lax${secure}`,
        location: isOwn ? target.href : '/',
      };
    },
    shopPage: (cookies) => `The shop of ${signedIn(cookies)?.sub ?? 'nobody'}`,
    order: (body) => ({ ordered: String(body?.item ?? 'nothing') }),
  };
}
