/** Constants that all servers of the OAuth benchmark share. */

export const redirectUri = 'https://app.example/callback';

export const scope = 'openid';

/** Claims that userinfo returns for the scope that the benchmark requests. */
export const claims = ['sub', 'kid', 'role', 'country', 'createdAt'] as const;

export const paths = {
  discovery: '/.well-known/openid-configuration',
  jwks: '/.well-known/jwks.json',
  token: '/v1/oauth/token',
  userinfo: '/v1/oauth/userinfo',
  revoke: '/v1/oauth/revoke',
} as const;

/**
 * Usual paths of a provider's endpoints, the token that a code exchange signs (ID token or access token), and
 * its signature algorithm.
 */
export const usual: Readonly<Record<'token' | 'userinfo' | 'jwks' | 'signed' | 'algorithm', string>> = {
  ...{ token: paths.token, userinfo: paths.userinfo, jwks: paths.jwks },
  ...{ signed: 'id_token', algorithm: 'RS256' },
};

/** Credentials of the client that a compared provider has registered. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Settings in which a compared provider differs from {@link usual}. */
  readonly unusual?: Partial<typeof usual>;
}
