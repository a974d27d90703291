/** What every server of the benchmark agrees on. */

export const redirectUri = 'https://app.example/callback';

/** The size of the directory; as many tokens live while memory is measured. */
export const userCount = 1_000;

export const scope = 'openid';

export const paths = {
  discovery: '/.well-known/openid-configuration',
  jwks: '/.well-known/jwks.json',
  token: '/v1/oauth/token',
  userinfo: '/v1/oauth/userinfo',
  revoke: '/v1/oauth/revoke',
} as const;

/** A user with the fields that `openid` shows. */
export interface User {
  readonly sub: string;
  readonly kid: string;
  readonly role: string;
  readonly country: string;
  readonly createdAt: string;
}

/** The same directory for both providers: a look-up in memory, so that it is not what is measured. */
export const users: ReadonlyMap<string, User> = new Map(
  Array.from({ length: userCount }, (_, index): [string, User] => {
    const number = String(index + 1).padStart(4, '0');
    const sub = `user-${number}`;
    return [
      sub,
      { sub, kid: `KID-${number}`, role: 'member', country: 'HT', createdAt: '2024-03-01T12:00:00.000Z' },
    ];
  }),
);

/** A client as the token endpoint wants it. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}
