/** A client as oidc-provider stores it. */
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

/** A grant as oidc-provider stores it in its model `Grant`. */
export const grant = {
  ...{ kind: 'Grant', jti: 'g1', accountId: 'user-1', clientId: 'kafe' },
  ...{ iat: 1_700_000_000, exp: 4_000_000_000, openid: { scope: 'openid profile' } },
};

/**
 * A client as Hydra 2.3.0 lists it, with the column `client_secret` and without most members that are null or
 * empty.
 */
export const hydraClient = {
  client_id: 'shop-1',
  client_name: 'Shop',
  client_secret:
    '$pbkdf2-sha256$i=25000,l=32$yDPurmZmsxBraWE+iK4WJQ$SdU5Zd47WN+aAOnDWGXH3Xldn79IH6sj4QZTktDL9bs',
  redirect_uris: ['http://127.0.0.1:14490/cb', 'https://shop.example/cb'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid offline_access profile',
  audience: [],
  policy_uri: '',
  tos_uri: '',
  client_secret_expires_at: 0,
  subject_type: 'public',
  jwks: {},
  token_endpoint_auth_method: 'client_secret_basic',
  userinfo_signed_response_alg: 'none',
  created_at: '2026-11-25T21:19:34Z',
  post_logout_redirect_uris: ['https://shop.example/bye'],
  metadata: {},
  skip_consent: null,
};

/** A consent session as Hydra 2.3.0 lists it, without most members that are null or empty. */
export const hydraConsent = {
  grant_scope: ['openid', 'offline', 'profile'],
  grant_access_token_audience: [],
  session: { access_token: {}, id_token: {} },
  remember: true,
  remember_for: 0,
  handled_at: '2026-11-25T21:19:36.783127747Z',
  context: null,
  consent_request: {
    challenge: '84a6d74b-3a5c-4203-a179-8bbd7ef259ad',
    requested_scope: ['openid', 'offline', 'profile'],
    skip: false,
    subject: 'user-1',
    client: { client_id: 'shop-1', client_name: 'Shop' },
    login_session_id: '453d8d7f-ee05-415f-9395-84fd4a78391e',
  },
};

/**
 * A client as Keycloak 26.5.6 exports it, without unnecessary members. Its back-channel logout URL has an IP
 * address, because `shop.example` does not resolve.
 */
const keycloakClient = {
  id: 'a5d8acdd-31e9-4f3b-95ad-4dc5f5aa322e',
  clientId: 'shop',
  name: 'Web shop',
  rootUrl: 'https://shop.example',
  baseUrl: '/',
  enabled: true,
  clientAuthenticatorType: 'client-secret',
  secret: '3q2vFbq0P6tN8x1zKfLwR7yEoHcUaJdM',
  redirectUris: ['/cb'],
  webOrigins: ['+'],
  bearerOnly: false,
  consentRequired: true,
  standardFlowEnabled: true,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: true,
  publicClient: false,
  frontchannelLogout: true,
  protocol: 'openid-connect',
  attributes: {
    realm_client: 'false',
    'id.token.signed.response.alg': 'ES256',
    'backchannel.logout.url': 'https://93.184.216.34/backchannel',
    'backchannel.logout.session.required': 'true',
    policyUri: 'https://shop.example/privacy',
    tosUri: 'https://shop.example/terms',
    'post.logout.redirect.uris': '+##https://shop.example/bye',
    'pkce.code.challenge.method': 'S256',
  },
  fullScopeAllowed: false,
  defaultClientScopes: ['web-origins', 'service_account', 'acr', 'roles', 'profile', 'basic', 'email'],
  optionalClientScopes: ['address', 'phone', 'organization', 'offline_access', 'microprofile-jwt'],
};

/**
 * Makes another client of the Keycloak realm. Members that are not given are those of `keycloakClient`,
 * without its name, root URL, attributes and service account.
 */
export const keycloakClientOf = (clientId: string, changes: object = {}) => ({
  ...{
    ...keycloakClient,
    clientId,
    name: '',
    rootUrl: undefined,
    attributes: {},
    serviceAccountsEnabled: false,
  },
  ...{ redirectUris: [`https://${clientId}.example/cb`], ...changes },
});

/** A user as Keycloak 26.5.6 exports it, without unnecessary members. */
export const keycloakUser = {
  id: '4abb0508-3c5d-43a9-ae13-e282e493e909',
  username: 'ana',
  enabled: true,
  realmRoles: ['default-roles-shop'],
  clientConsents: [
    {
      clientId: 'shop',
      grantedClientScopes: ['roles', 'email', 'offline_access', 'profile', 'phone'],
      createdDate: 1_795_641_922_043,
      lastUpdatedDate: 1_795_641_922_110,
    },
  ],
};

/** A realm as `kc.sh export` of Keycloak 26.5.6 writes it, shortened. */
export const realm = {
  realm: 'shop',
  defaultSignatureAlgorithm: 'RS256',
  keycloakVersion: '26.5.6',
  clients: [
    keycloakClientOf('account-console', { publicClient: true }),
    keycloakClientOf('security-admin-console', { publicClient: true }),
    keycloakClient,
    keycloakClientOf('spa', { publicClient: true, secret: undefined }),
    keycloakClientOf('masked', { secret: '**********' }),
    keycloakClientOf('wild', { redirectUris: ['https://wild.example/*'] }),
    keycloakClientOf('saml', { protocol: 'saml' }),
    keycloakClientOf('api', { bearerOnly: true }),
    keycloakClientOf('off', { enabled: false }),
  ],
  users: [
    keycloakUser,
    { ...keycloakUser, id: 'u-2', enabled: false },
    {
      ...keycloakUser,
      id: 'u-3',
      clientConsents: [{ clientId: 'masked', grantedClientScopes: ['profile'] }],
    },
  ],
};
