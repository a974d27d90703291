import { present } from '../command.ts';
import {
  algorithmOf,
  type FoundClient,
  type Members,
  secretOf,
  standardScopes,
  text,
  texts,
  words,
} from './found.ts';

const knownGrants = ['authorization_code', 'refresh_token'];

/** What a client of the other system could do, and cannot here. */
function leftOf(metadata: Members): readonly string[] {
  const grants = texts(metadata.grant_types).filter((grant) => !knownGrants.includes(grant));
  const algorithm = text(metadata.id_token_signed_response_alg);
  const logout = text(metadata.frontchannel_logout_uri);
  const audience = texts(metadata.audience);
  const userinfo = text(metadata.userinfo_signed_response_alg) ?? 'none';
  return [
    ...(grants.length > 0 ? [`grants: ${grants.join(' ')}`] : []),
    ...(algorithm !== undefined && algorithmOf(algorithm) === undefined ? [`ID tokens by ${algorithm}`] : []),
    ...(userinfo === 'none' ? [] : ['signed userinfo']),
    ...(metadata.access_token_strategy === 'jwt' ? ['access tokens that are JWTs'] : []),
    ...(audience.length > 0 ? [`audience: ${audience.join(' ')}`] : []),
    ...(metadata.skip_consent === true ? ['sign-ins without a consent page'] : []),
    ...(logout === undefined ? [] : ['front-channel logout']),
    ...(metadata.sector_identifier_uri || metadata.subject_type === 'pairwise' ? ['pairwise subjects'] : []),
  ];
}

function reasonOf(metadata: Members, isPublic: boolean, now: number): string | null {
  const method = text(metadata.token_endpoint_auth_method) ?? 'client_secret_basic';
  const { grant_types: grants, client_secret_expires_at: ends } = metadata;
  if (Array.isArray(grants) && !grants.includes('authorization_code'))
    return 'it does not use the authorization code grant';
  if (!/^(?:client_secret_(?:basic|post)|none)$/.test(method)) return `it authenticates by ${method}`;
  if (!isPublic && text(metadata.client_secret) === undefined)
    return 'its secret is not in the file: create it, or add client_secret, plain or hashed';
  if (typeof ends === 'number' && ends > 0 && ends * 1000 <= now) return 'its secret has ended';
  return null;
}

/** A client as its metadata says (RFC 7591, section 2), which oidc-provider and Hydra both keep. */
export function clientOfMetadata(metadata: Members, now = Date.now()): FoundClient {
  const clientId = text(metadata.client_id) ?? '';
  const isPublic = metadata.token_endpoint_auth_method === 'none';
  const secret = text(metadata.client_secret);
  const grants = texts(metadata.grant_types);
  const scopes = standardScopes(words(metadata.scope));
  return {
    clientId,
    settings: {
      clientId,
      name: text(metadata.client_name) ?? clientId,
      redirectUris: texts(metadata.redirect_uris),
      allowedScopes: scopes.filter((scope) => scope !== 'offline_access' || grants.includes('refresh_token')),
      postLogoutRedirectUris: texts(metadata.post_logout_redirect_uris),
      ...(isPublic ? { public: true } : secret !== undefined && secretOf(secret)),
      ...present({
        termsUrl: text(metadata.tos_uri),
        privacyUrl: text(metadata.policy_uri),
        backchannelLogoutUri: text(metadata.backchannel_logout_uri),
        idTokenAlg: algorithmOf(metadata.id_token_signed_response_alg),
      }),
    },
    left: leftOf(metadata),
    reason: reasonOf(metadata, isPublic, now),
  };
}
