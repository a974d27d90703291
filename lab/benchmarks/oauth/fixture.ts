/** What every server of the benchmark agrees on. */

export const redirectUri = 'https://app.example/callback';

export const scope = 'openid';

/** What userinfo answers for that scope. */
export const claims = ['sub', 'kid', 'role', 'country', 'createdAt'] as const;

export const paths = {
  discovery: '/.well-known/openid-configuration',
  jwks: '/.well-known/jwks.json',
  token: '/v1/oauth/token',
  userinfo: '/v1/oauth/userinfo',
  revoke: '/v1/oauth/revoke',
} as const;

/** Where a provider's endpoints are, and which of the tokens of an exchange it signs, and how. */
export const usual: Readonly<Record<'token' | 'userinfo' | 'jwks' | 'signed' | 'algorithm', string>> = {
  ...{ token: paths.token, userinfo: paths.userinfo, jwks: paths.jwks },
  ...{ signed: 'id_token', algorithm: 'RS256' },
};

/** A client as the token endpoint wants it. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** What is not {@link usual} at a peer. */
  readonly unusual?: Partial<typeof usual>;
}
