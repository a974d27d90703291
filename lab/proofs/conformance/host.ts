import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication, Login, UserDirectory } from '@ostiary/core';

/** The only user of the conformance proof, with a value for every standard claim. */
const user = {
  ...{ sub: 'user-ana', kid: 'KID-ANA', role: 'member', country: 'HT', handle: 'ana', name: 'Ana Joseph' },
  ...{ createdAt: '2024-03-01T12:00:00.000Z', updatedAt: '2026-01-31T12:00:00.000Z' },
  avatarUrl: 'https://cdn.example/ana.png',
  ...({ kycTier: 2, kycStatus: 'approved', htgBalance: '1250.00', usdBalance: '80.50' } as const),
  ...{ trustScore: 87, trustTier: 'gold', activeCredentials: [] },
  ...{ email: 'ana@example.com', emailVerified: true },
  ...{ phoneNumber: '+50937000001', phoneNumberVerified: true },
  address: { streetAddress: '1 Rue Capois', locality: 'Port-au-Prince', country: 'HT' },
  ...{ locale: 'ht-HT', zoneinfo: 'America/Port-au-Prince' },
  ...{ givenName: 'Ana', familyName: 'Joseph', middleName: 'Marie', nickname: 'Anita' },
  ...{ profile: 'https://id.example.com/ana', website: 'https://ana.example', gender: 'female' },
  birthdate: '1990-02-28',
};

const sessionOf = (request: IncomingMessage): string =>
  /(?:^|; )host=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';

/**
 * Creates an application with one user and a login page with one button, which the browser of the conformance
 * suite can operate.
 */
export function conformanceHost() {
  const sessions = new Map<string, Authentication>();
  const users: UserDirectory = {
    find: (sub) => (sub === user.sub ? user : null),
    findByKid: () => null,
    findByPhone: () => null,
  };
  const login: Login = {
    authenticate: (request) => sessions.get(sessionOf(request)) ?? null,
    loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    signOut: (request) => void sessions.delete(sessionOf(request)),
  };
  return {
    users,
    login,
    /** Shows the login page, and signs the user in when the form is sent. */
    page(request: IncomingMessage, response: ServerResponse): void {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost');
      if (pathname !== '/login') return void response.writeHead(404).end();
      if (request.method !== 'POST') {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
        response.end(
          '<!doctype html><title>Sign in</title><h1>Sign in</h1><form method="post"><button id="sign-in">Sign in</button></form>',
        );
        return;
      }
      const session = randomBytes(16).toString('base64url');
      sessions.set(session, { sub: user.sub, authenticatedAt: new Date() });
      const location = searchParams.get('return_to') ?? '/';
      response.writeHead(303, { location, 'set-cookie': `host=${session}; Path=/; Secure; HttpOnly` }).end();
    },
  };
}
