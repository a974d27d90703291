import type { NewClient } from '@ostiary/core/admin';
import { present } from '../command.ts';
import {
  algorithmOf,
  type FoundClient,
  handled,
  isOn,
  isSet,
  leftOf,
  list,
  type MemberRule,
  type MemberRules,
  type Members,
  members,
  otherOrigins,
  otherThan,
  portsOf,
  secretOf,
  standardScopes,
  text,
  texts,
  words,
} from './found.ts';

/**
 * Makes a rule for client metadata: reports signed responses as lost, unless the algorithm is missing, `none`
 * or RS256, which is the default of the specifications.
 */
const signed =
  (what: string): MemberRule =>
  (value) =>
    text(value) === undefined || value === 'none' || value === 'RS256' ? null : what;

const encrypted = isSet('encrypted answers');
const certificate = isSet('certificates of the client');
const ofGrant = isSet('lives of tokens of its own');

/**
 * Rules for the members of a client's metadata: those of the RFC 7591 registry, of oidc-provider and of
 * Hydra. Claims that Ostiary always puts into ID tokens or logout tokens (`auth_time`, `sid`) need no
 * setting.
 */
const metadataRules: MemberRules = {
  application_type: handled,
  backchannel_logout_session_required: handled,
  backchannel_logout_uri: handled,
  client_id: handled,
  client_id_issued_at: handled,
  client_name: handled,
  client_secret: handled,
  created_at: handled,
  dpop_bound_access_tokens: handled,
  frontchannel_logout_session_required: handled,
  pk: handled,
  policy_uri: handled,
  post_logout_redirect_uris: handled,
  redirect_uris: handled,
  require_auth_time: handled,
  scope: handled,
  token_endpoint_auth_method: handled,
  tos_uri: handled,
  updated_at: handled,

  access_token_strategy: (value) => (value === 'jwt' ? 'access tokens that are JWTs' : null),
  audience: otherThan('audience:'),
  authorization_details_types: isSet('authorization details'),
  authorization_encrypted_response_alg: encrypted,
  authorization_encrypted_response_enc: encrypted,
  authorization_signed_response_alg: signed('signed authorization responses'),
  backchannel_authentication_request_signing_alg: isSet('backchannel authentication'),
  backchannel_client_notification_endpoint: isSet('backchannel authentication'),
  backchannel_token_delivery_mode: isSet('backchannel authentication'),
  backchannel_user_code_parameter: isOn('backchannel authentication'),
  client_secret_expires_at: (value) =>
    typeof value === 'number' && value > 0
      ? `the end of its secret on ${new Date(value * 1000).toISOString().slice(0, 10)}`
      : null,
  client_uri: isSet('home page'),
  contacts: isSet('contacts'),
  default_acr_values: otherThan('default_acr_values:'),
  default_max_age: (value) => (typeof value === 'number' ? `default_max_age: ${value}` : null),
  frontchannel_logout_uri: isSet('front-channel logout'),
  grant_types: otherThan('grants:', 'authorization_code', 'refresh_token'),
  id_token_encrypted_response_alg: encrypted,
  id_token_encrypted_response_enc: encrypted,
  id_token_signed_response_alg: otherThan('ID tokens by', 'ES256', 'RS256'),
  initiate_login_uri: isSet('sign-ins that others start'),
  introspection_encrypted_response_alg: encrypted,
  introspection_encrypted_response_enc: encrypted,
  introspection_signed_response_alg: signed('signed introspection'),
  jwks: isSet('keys'),
  jwks_uri: isSet('keys'),
  logo_uri: isSet('logo'),
  metadata: isSet('metadata of its own'),
  owner: isSet('owner'),
  registration_access_token: isSet('access to its registration'),
  registration_client_uri: isSet('access to its registration'),
  request_object_encryption_alg: isSet('encrypted requests'),
  request_object_encryption_enc: isSet('encrypted requests'),
  request_object_signing_alg: isSet('signed requests'),
  request_uris: isSet('signed requests'),
  require_pushed_authorization_requests: handled,
  require_signed_request_object: isOn('signed requests'),
  response_modes: otherThan('response modes:', 'query'),
  response_types: otherThan('response types:', 'code'),
  sector_identifier_uri: isSet('pairwise subjects'),
  skip_consent: isOn('sign-ins without a consent page'),
  skip_logout_consent: isOn('sign-outs without a page'),
  software_id: isSet('software'),
  software_statement: isSet('software'),
  software_version: isSet('software'),
  subject_type: (value) => (value === 'pairwise' ? 'pairwise subjects' : null),
  tls_client_auth_san_dns: certificate,
  tls_client_auth_san_email: certificate,
  tls_client_auth_san_ip: certificate,
  tls_client_auth_san_uri: certificate,
  tls_client_auth_subject_dn: certificate,
  tls_client_certificate_bound_access_tokens: isOn('access tokens bound to a certificate'),
  token_endpoint_auth_signing_alg: isSet('signed client authentication'),
  use_mtls_endpoint_aliases: isOn('certificates of the client'),
  userinfo_encrypted_response_alg: encrypted,
  userinfo_encrypted_response_enc: encrypted,
  userinfo_signed_response_alg: (value) =>
    text(value) === undefined || value === 'none' ? null : 'signed userinfo',

  authorization_code_grant_access_token_lifespan: ofGrant,
  authorization_code_grant_id_token_lifespan: ofGrant,
  authorization_code_grant_refresh_token_lifespan: ofGrant,
  refresh_token_grant_access_token_lifespan: ofGrant,
  refresh_token_grant_id_token_lifespan: ofGrant,
  refresh_token_grant_refresh_token_lifespan: ofGrant,
};

/**
 * Checks whether the old server ignored the port of a redirect URI, as RFC 8252, section 7.3, demands for
 * loopback addresses.
 */
type IgnoresPort = (redirectUri: string, metadata: Members) => boolean;

/** oidc-provider accepts `http` redirect URIs of native apps for loopback addresses only, with any port. */
const isOfNativeApp: IgnoresPort = (uri, metadata) =>
  metadata.application_type === 'native' && uri.startsWith('http:');

/** Checks whether a client authenticates with a signed JWT instead of a secret. */
const usesKeys = ({ token_endpoint_auth_method: method }: Members): boolean => method === 'private_key_jwt';

/** Rules for the metadata members of a client that authenticates with keys. */
const keyRules: MemberRules = {
  jwks: handled,
  jwks_uri: handled,
  token_endpoint_auth_signing_alg: handled,
};

/** Returns why a client cannot keep its keys in Ostiary; `null` if it can. */
function keysReason({ jwks, jwks_uri: uri, token_endpoint_auth_signing_alg: alg }: Members): string | null {
  if (list(members(jwks).keys).length === 0 && text(uri) === undefined)
    return 'it authenticates by private_key_jwt, and its keys are not in the file';
  const algorithm = text(alg);
  return algorithm === undefined || /^(?:ES256|PS256|EdDSA|Ed25519)$/.test(algorithm)
    ? null
    : `it authenticates by private_key_jwt with ${algorithm}`;
}

/** Returns the setting for the credentials (secret or keys) of an imported client. */
function credentialsOf(metadata: Members): Partial<NewClient> {
  if (metadata.token_endpoint_auth_method === 'none') return { public: true };
  const uri = text(metadata.jwks_uri);
  if (usesKeys(metadata)) {
    if (uri !== undefined) return { jwksUri: uri };
    return { jwks: { keys: list(members(metadata.jwks).keys).map(members) } };
  }
  // oidc-provider and Hydra only authenticate other confidential clients by secret, or by methods whose
  // clients `reasonOf` refuses.
  const secret = text(metadata.client_secret);
  return { requireSecret: true, ...(secret !== undefined && secretOf(secret)) };
}

function reasonOf(metadata: Members, isPublic: boolean, now: number): string | null {
  const method = text(metadata.token_endpoint_auth_method) ?? 'client_secret_basic';
  const { grant_types: grants, client_secret_expires_at: ends } = metadata;
  if (Array.isArray(grants) && !grants.includes('authorization_code'))
    return 'it does not use the authorization code grant';
  if (usesKeys(metadata)) return keysReason(metadata);
  if (!/^(?:client_secret_(?:basic|post)|none)$/.test(method)) return `it authenticates by ${method}`;
  if (!isPublic && text(metadata.client_secret) === undefined)
    return 'its secret is not in the file: create it, or add client_secret, plain or hashed';
  if (typeof ends === 'number' && ends > 0 && ends * 1000 <= now) return 'its secret has expired';
  return null;
}

/**
 * Reads a client from its metadata (RFC 7591, section 2), which oidc-provider and Hydra both store.
 * @param ignoresPort - by default, the rule of oidc-provider
 */
export function clientOfMetadata(
  metadata: Members,
  now = Date.now(),
  ignoresPort: IgnoresPort = isOfNativeApp,
): FoundClient {
  const clientId = text(metadata.client_id) ?? '';
  const isPublic = metadata.token_endpoint_auth_method === 'none';
  const grants = texts(metadata.grant_types);
  const redirectUris = texts(metadata.redirect_uris);
  const scopes = standardScopes(words(metadata.scope));
  const ports = portsOf(redirectUris, (uri) => ignoresPort(uri, metadata), isPublic);
  return {
    clientId,
    settings: {
      clientId,
      name: text(metadata.client_name) ?? clientId,
      redirectUris,
      allowedScopes: scopes.filter((scope) => scope !== 'offline_access' || grants.includes('refresh_token')),
      postLogoutRedirectUris: texts(metadata.post_logout_redirect_uris),
      ...credentialsOf(metadata),
      ...(metadata.require_pushed_authorization_requests === true && { requirePushedRequests: true }),
      ...(metadata.dpop_bound_access_tokens === true && { requireDpop: true }),
      ...ports.settings,
      ...present({
        termsUrl: text(metadata.tos_uri),
        privacyUrl: text(metadata.policy_uri),
        backchannelLogoutUri: text(metadata.backchannel_logout_uri),
        idTokenAlg: algorithmOf(metadata.id_token_signed_response_alg),
      }),
    },
    left: [
      ...leftOf(metadata, {
        ...metadataRules,
        ...(usesKeys(metadata) && keyRules),
        allowed_cors_origins: otherOrigins(redirectUris),
      }),
      ...ports.left,
    ],
    reason: reasonOf(metadata, isPublic, now),
  };
}
