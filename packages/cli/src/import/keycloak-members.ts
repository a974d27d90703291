import { handled, isOn, isSet, type MemberRules, otherThan } from './found.ts';

/** Converts an attribute of Keycloak in seconds to a date; `null` if it is not set. */
export function secondsOf(value: unknown): Date | null {
  const seconds = Number(value);
  return seconds > 0 && seconds < 1e11 ? new Date(seconds * 1000) : null;
}

const lives = isSet('lives of tokens and sessions of its own');
const exchange = isOn('token exchange');

/** Rules for the members of a Keycloak client, apart from its attributes. */
export const clientRules: MemberRules = {
  access: handled,
  attributes: handled,
  bearerOnly: handled,
  clientAuthenticatorType: handled,
  clientId: handled,
  defaultClientScopes: handled,
  enabled: handled,
  // Has no effect in Keycloak without a URL, which is one of the attributes.
  frontchannelLogout: handled,
  id: handled,
  name: handled,
  nodeReRegistrationTimeout: handled,
  optionalClientScopes: handled,
  origin: handled,
  protocol: handled,
  publicClient: handled,
  redirectUris: handled,
  rootUrl: handled,
  secret: handled,
  standardFlowEnabled: handled,

  adminUrl: isSet('address for administration'),
  alwaysDisplayInConsole: isOn('place in the account console'),
  authenticationFlowBindingOverrides: isSet('sign-in of its own'),
  authorizationServicesEnabled: isOn('authorization services'),
  authorizationSettings: isSet('authorization services'),
  baseUrl: isSet('home page'),
  clientTemplate: isSet('template'),
  consentRequired: (value) => (value === true ? null : 'sign-ins without a consent page'),
  defaultRoles: isSet('roles'),
  description: isSet('description'),
  directAccessGrantsEnabled: isOn('passwords as grants'),
  directGrantsOnly: isOn('passwords as grants'),
  fullScopeAllowed: isOn('roles'),
  implicitFlowEnabled: isOn('implicit flow'),
  notBefore: (value) => (typeof value === 'number' && value > 0 ? 'end of its earlier tokens' : null),
  protocolMappers: isSet('protocol mappers'),
  registeredNodes: isSet('nodes'),
  registrationAccessToken: isSet('access to its registration'),
  serviceAccountsEnabled: isOn('service account'),
  surrogateAuthRequired: isOn('surrogate authentication'),
  useTemplateConfig: isOn('template'),
  useTemplateMappers: isOn('template'),
  useTemplateScope: isOn('template'),
};

/**
 * Rules for the attributes of an OpenID Connect client of Keycloak. Claims that Ostiary always puts into
 * logout tokens and responses need no setting.
 */
export const attributeRules: MemberRules = {
  'backchannel.logout.session.required': handled,
  'backchannel.logout.url': handled,
  'client.secret.creation.time': handled,
  'display.on.consent.screen': handled,
  'frontchannel.logout.session.required': handled,
  'logout.confirmation.enabled': handled,
  policyUri: handled,
  'post.logout.redirect.uris': handled,
  realm_client: handled,
  tosUri: handled,
  'use.jwks.string': handled,
  'use.jwks.url': handled,
  'use.refresh.tokens': handled,

  'access.token.lifespan': lives,
  'access.token.signed.response.alg': isSet('access tokens that are JWTs'),
  'acr.loa.map': isSet('levels of authentication'),
  'authorization.encrypted.response.alg': isSet('encrypted answers'),
  'authorization.encrypted.response.enc': isSet('encrypted answers'),
  'authorization.signed.response.alg': isSet('signed authorization responses'),
  'backchannel.logout.revoke.offline.tokens': isOn('end of refresh tokens with a sign-out'),
  'client.offline.session.idle.timeout': lives,
  'client.offline.session.max.lifespan': lives,
  'client.secret.expiration.time': (value) => {
    const end = secondsOf(value);
    return end === null ? null : `the end of its secret on ${end.toISOString().slice(0, 10)}`;
  },
  'client.secret.rotated': isSet('the secret that was replaced'),
  'client.secret.rotated.creation.time': handled,
  'client.secret.rotated.expiration.time': handled,
  'client.session.idle.timeout': lives,
  'client.session.max.lifespan': lives,
  'client.use.lightweight.access.token.enabled': isOn('access tokens that are JWTs'),
  'client_credentials.use_refresh_token': isOn('service account'),
  'consent.screen.text': isSet('text of its consent page'),
  contacts: isSet('contacts'),
  'default.acr.values': isSet('levels of authentication'),
  'dpop.bound.access.tokens': handled,
  'frontchannel.logout.url': isSet('front-channel logout'),
  'id.token.encrypted.response.alg': isSet('encrypted answers'),
  'id.token.encrypted.response.enc': isSet('encrypted answers'),
  // Read together with the realm's default, in keycloak.ts.
  'id.token.signed.response.alg': handled,
  'jwks.string': isSet('keys'),
  'jwks.url': isSet('keys'),
  login_theme: isSet('theme'),
  logoUri: isSet('logo'),
  'minimum.acr.value': isSet('levels of authentication'),
  'oauth2.device.authorization.grant.enabled': isOn('device flow'),
  'oidc.ciba.grant.enabled': isOn('backchannel authentication'),
  'pkce.code.challenge.method': otherThan('PKCE by', 'S256'),
  'request.object.encryption.alg': otherThan('encrypted requests by', 'any'),
  'request.object.encryption.enc': otherThan('encrypted requests by', 'any'),
  'request.object.required': (value) => (value === 'not required' ? null : isSet('signed requests')(value)),
  'request.object.signature.alg': otherThan('signed requests by', 'any'),
  'request.uris': isSet('signed requests'),
  'require.pushed.authorization.requests': isOn('pushed authorization requests'),
  sectorIdentifierUri: isSet('pairwise subjects'),
  'standard.token.exchange.enabled': exchange,
  'tls.client.certificate.bound.access.tokens': isOn('access tokens bound to a certificate'),
  'token.endpoint.auth.signing.alg': isSet('signed client authentication'),
  'user.info.encrypted.response.alg': isSet('encrypted answers'),
  'user.info.encrypted.response.enc': isSet('encrypted answers'),
  'user.info.response.signature.alg': isSet('signed userinfo'),
};

/** Rules for the members of a user's consent in Keycloak. */
export const consentRules: MemberRules = {
  clientId: handled,
  createdDate: handled,
  grantedClientScopes: handled,
  lastUpdatedDate: handled,
  additionalGrants: isSet('offline sessions'),
  grantedClientRoles: isSet('roles'),
  grantedProtocolMappers: isSet('protocol mappers'),
  grantedRealmRoles: isSet('roles'),
};
