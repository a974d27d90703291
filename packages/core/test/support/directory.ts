import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication, Login, Scope, UserDirectory, UserRecord } from '../../src/index.ts';

/** A user with all fields that the built-in scopes reveal. */
export const ana: UserRecord = {
  sub: 'user-ana',
  kid: 'KID-ANA',
  role: 'member',
  country: 'HT',
  createdAt: '2024-03-01T12:00:00.000Z',
  name: 'Ana Joseph',
  handle: 'ana',
  avatarUrl: 'https://cdn.example/ana.png',
  kycTier: 2,
  kycStatus: 'approved',
  htgBalance: '1250.00',
  usdBalance: '80.50',
  trustScore: 87,
  trustTier: 'gold',
  activeCredentials: [
    { id: 'cred-1', type: 'national-id', issuedAt: '2025-01-01T00:00:00.000Z', expiresAt: null },
  ],
};

/** Table of scopes in the specification, written down independently of the code. */
export const scopeFields: Readonly<Record<Scope, readonly (keyof UserRecord)[]>> = {
  openid: ['sub', 'kid', 'role', 'country', 'createdAt'],
  profile: ['name', 'handle', 'avatarUrl'],
  kyc: ['kycTier', 'kycStatus'],
  'wallet:balance': ['htgBalance', 'usdBalance'],
  identity: ['trustScore', 'trustTier', 'activeCredentials'],
};

/** Record of the second test user. */
export const ben: UserRecord = {
  ...ana,
  sub: 'user-ben',
  kid: 'KID-BEN',
  name: 'Ben Pierre',
  handle: 'ben',
  avatarUrl: null,
};

/** Ids of the test users by their phone numbers. */
const phones: ReadonlyMap<string, string> = new Map([
  ['+50937000001', ana.sub],
  ['+50937000002', ben.sub],
]);

/** A host with users and a login that the test controls. A browser is identified by its cookie `host`. */
export class Host {
  readonly people = new Map<string, UserRecord>([ana, ben].map((user) => [user.sub, user]));
  /** Handles requests that are not for Ostiary; without this handler Ostiary responds with 404. */
  pages: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  readonly #signedIn = new Map<string, Authentication>();
  /** Pairs of user and partner for which the host application does not reveal the user. */
  readonly hidden = new Set<string>();
  readonly users: UserDirectory = {
    find: (sub) => this.people.get(sub) ?? null,
    findByKid: (kid) => [...this.people.values()].find((user) => user.kid === kid) ?? null,
    findByPhone: (phone) => this.people.get(phones.get(phone) ?? '') ?? null,
    isVisible: (user, partner) => !this.hidden.has(`${user.sub} ${partner}`),
  };
  readonly login: Login = {
    authenticate: (request) => this.#signedIn.get(hostCookie(request)) ?? null,
    loginUrl: (returnTo, { reauthenticate, loginHint, uiLocales, acrValues }) => {
      const query = new URLSearchParams({ return_to: returnTo, reauthenticate: String(reauthenticate) });
      if (loginHint !== undefined) query.set('login_hint', loginHint);
      if (uiLocales !== undefined) query.set('ui_locales', uiLocales.join(' '));
      if (acrValues !== undefined) query.set('acr_values', acrValues.join(' '));
      return `/login?${query}`;
    },
  };
  /** Returns the login of a host application that can also sign users out. */
  get loginWithSignOut(): Login {
    return { ...this.login, signOut: (request) => this.signOut(hostCookie(request)) };
  }

  signIn(
    browser: string,
    sub: string,
    authenticatedAt: Date,
    context: Pick<Authentication, 'acr' | 'amr'> = {},
  ): void {
    this.#signedIn.set(browser, { sub, authenticatedAt, ...context });
  }

  signOut(browser: string): void {
    this.#signedIn.delete(browser);
  }

  isSignedIn(browser: string): boolean {
    return this.#signedIn.has(browser);
  }
}

export function hostCookie(request: IncomingMessage): string {
  return /(?:^|; )host=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
}
