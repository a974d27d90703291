/** A client as oidc-provider keeps it. */
export const metadata = {
  client_id: 'kafe',
  client_secret: 'a-secret-of-more-than-twenty-characters',
  client_name: 'Kafe',
  redirect_uris: ['https://kafe.example/cb'],
  post_logout_redirect_uris: ['https://kafe.example/'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
  scope: 'openid profile offline_access',
  id_token_signed_response_alg: 'ES256',
  tos_uri: 'https://kafe.example/terms',
  policy_uri: 'https://kafe.example/privacy',
  client_secret_expires_at: 0,
};

/** The model `Grant` of oidc-provider. */
export const grant = {
  ...{ kind: 'Grant', jti: 'g1', accountId: 'user-1', clientId: 'kafe' },
  ...{ iat: 1_700_000_000, exp: 4_000_000_000, openid: { scope: 'openid profile' } },
};

/** A client as Hydra 2 lists it, with the column `client_secret` added. */
export const hydraClient = {
  client_id: 'shop-1',
  client_name: '',
  client_secret: '$pbkdf2-sha256$i=25000,l=32$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  redirect_uris: ['https://shop.example/cb'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid offline',
  subject_type: 'public',
  token_endpoint_auth_method: 'client_secret_post',
  userinfo_signed_response_alg: 'none',
  skip_consent: true,
  metadata: {},
  created_at: '2025-05-05T05:05:05Z',
};

/** A consent session of Hydra 2. */
export const hydraConsent = {
  consent_request: { subject: 'user-1', client: { client_id: 'shop-1' }, requested_scope: ['openid'] },
  grant_scope: ['openid', 'offline'],
  remember: true,
  remember_for: 0,
  handled_at: '2026-01-02T03:04:05Z',
};

const client = (clientId: string, changes: object = {}) => ({
  ...{ clientId, enabled: true, protocol: 'openid-connect', clientAuthenticatorType: 'client-secret' },
  ...{ secret: 'Xv2mGmEOBFV3oqnAGeDm9JbSzbIWOySE', publicClient: false, bearerOnly: false },
  ...{ standardFlowEnabled: true, redirectUris: [`https://${clientId}.example/cb`], attributes: {} },
  ...{ defaultClientScopes: ['profile', 'roles'], optionalClientScopes: [] },
  ...changes,
});

/** A realm as `kc.sh export` writes it, shortened. */
export const realm = {
  realm: 'shop',
  clients: [
    client('account-console', { publicClient: true }),
    client('security-admin-console', { publicClient: true }),
    client('web', {
      name: 'Web shop',
      rootUrl: 'https://web.example',
      redirectUris: ['/cb'],
      serviceAccountsEnabled: true,
      attributes: { 'pkce.code.challenge.method': 'S256', 'post.logout.redirect.uris': '+##/bye' },
    }),
    client('spa', { publicClient: true, secret: undefined }),
    client('masked', { secret: '**********' }),
    client('wild', { redirectUris: ['https://wild.example/*'] }),
    client('saml', { protocol: 'saml' }),
    client('api', { bearerOnly: true }),
    client('off', { enabled: false }),
  ],
  users: [
    {
      id: 'u-1',
      username: 'ana',
      enabled: true,
      clientConsents: [
        { clientId: 'web', grantedClientScopes: ['profile', 'roles'], createdDate: 1_700_000_000_000 },
        { clientId: 'masked', grantedClientScopes: ['profile'] },
      ],
    },
    { id: 'u-2', enabled: false, clientConsents: [{ clientId: 'web', grantedClientScopes: ['profile'] }] },
  ],
};
