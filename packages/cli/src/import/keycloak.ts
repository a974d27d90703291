import type { NewClient } from '@ostiary/core/admin';
import { present } from '../command.ts';
import {
  algorithmOf,
  type FoundClient,
  type FoundConsent,
  list,
  type Members,
  members,
  moment,
  type ReadExport,
  secretOf,
  text,
  texts,
} from './found.ts';

/** Clients of Keycloak itself, which every realm has. */
const builtIn = [
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
];

/** Scopes that make Keycloak write claims and roles into its tokens; no app is told of them. */
const plumbing = ['acr', 'basic', 'microprofile-jwt', 'roles', 'service_account', 'web-origins'];

/** An address as the realm means it: one without origin is written behind the client's root. */
const absolute = (root: string | undefined) => (uri: string) =>
  root !== undefined && uri.startsWith('/') ? `${root}${uri}` : uri;

/** Where users may return to: the redirect URIs, for which a plus sign stands too, unless others are given, or none. */
function afterLogout(
  attributes: Members,
  redirectUris: readonly string[],
  absoluteUri: (uri: string) => string,
) {
  const given = (text(attributes['post.logout.redirect.uris']) ?? '+').split('##');
  if (given[0] === '-') return [];
  const uris = given.filter((uri) => uri !== '-' && uri !== '');
  return [...new Set(uris.flatMap((uri) => (uri === '+' ? redirectUris : [absoluteUri(uri)])))];
}

function leftOf(client: Members, algorithm: string): readonly string[] {
  const attributes = members(client.attributes);
  const pkce = text(attributes['pkce.code.challenge.method']) ?? 'S256';
  const isOn = (attribute: string) => attributes[attribute] === 'true' || attributes[attribute] === true;
  return [
    ...(algorithmOf(algorithm) === undefined ? [`ID tokens by ${algorithm}`] : []),
    ...(pkce === 'S256' ? [] : [`PKCE by ${pkce}`]),
    ...(client.consentRequired === true ? [] : ['sign-ins without a consent page']),
    ...(client.serviceAccountsEnabled === true ? ['service account'] : []),
    ...(client.directAccessGrantsEnabled === true ? ['passwords as grants'] : []),
    ...(client.implicitFlowEnabled === true ? ['implicit flow'] : []),
    ...(isOn('oauth2.device.authorization.grant.enabled') ? ['device flow'] : []),
    ...(isOn('require.pushed.authorization.requests') ? ['pushed authorization requests'] : []),
    ...(isOn('dpop.bound.access.tokens') ? ['DPoP'] : []),
    ...(text(attributes['frontchannel.logout.url']) === undefined ? [] : ['front-channel logout']),
    ...(list(client.protocolMappers).length > 0 ? ['protocol mappers'] : []),
  ];
}

function reasonOf(client: Members, secret: string | undefined): string | null {
  const method = text(client.clientAuthenticatorType) ?? 'client-secret';
  if (client.enabled === false) return 'it is disabled';
  if ((client.protocol ?? 'openid-connect') !== 'openid-connect') return `it speaks ${client.protocol}`;
  if (client.bearerOnly === true) return 'it is bearer-only: create it as a resource server';
  if (client.standardFlowEnabled === false) return 'it does not use the authorization code grant';
  if (client.publicClient === true) return null;
  if (method !== 'client-secret') return `it authenticates by ${method}`;
  if (secret === undefined || /^\*+$/.test(secret))
    return 'its secret is not in the file: export the realm with secrets, or create it';
  return null;
}

function clientOf(client: Members, realm: Members): FoundClient {
  const clientId = text(client.clientId) ?? '';
  const attributes = members(client.attributes);
  const secret = text(client.secret);
  const absoluteUri = absolute(text(client.rootUrl));
  const redirectUris = texts(client.redirectUris).map(absoluteUri);
  const scopes = [...texts(client.defaultClientScopes), ...texts(client.optionalClientScopes)];
  const algorithm =
    text(attributes['id.token.signed.response.alg']) ?? text(realm.defaultSignatureAlgorithm) ?? 'RS256';
  const backchannel = text(attributes['backchannel.logout.url']);
  const settings: NewClient = {
    clientId,
    name: text(client.name) ?? clientId,
    redirectUris,
    // What every client of Keycloak may ask for without saying so.
    allowedScopes: [...new Set(['openid', ...scopes])].filter((scope) => !plumbing.includes(scope)),
    postLogoutRedirectUris: afterLogout(attributes, redirectUris, absoluteUri),
    requirePkce: attributes['pkce.code.challenge.method'] === 'S256',
    ...(client.publicClient === true ? { public: true } : secret !== undefined && secretOf(secret)),
    ...present({
      termsUrl: text(attributes.tosUri),
      privacyUrl: text(attributes.policyUri),
      backchannelLogoutUri: backchannel && absoluteUri(backchannel),
      idTokenAlg: algorithmOf(algorithm),
    }),
  };
  return { clientId, settings, left: leftOf(client, algorithm), reason: reasonOf(client, secret) };
}

function consentsOf(user: Members): readonly FoundConsent[] {
  const sub = text(user.id);
  return list(user.clientConsents)
    .map(members)
    .flatMap((consent) => {
      const clientId = text(consent.clientId);
      const scopes = ['openid', ...texts(consent.grantedClientScopes)];
      if (sub === undefined || clientId === undefined || user.enabled === false) return [];
      return [{ sub, clientId, scopes, ...present({ grantedAt: moment(consent.createdDate) }) }];
    });
}

/**
 * A realm as `kc.sh export` writes it, with its users in the same file or in files of their own (`shop-users-0.json`); those who
 * come from another directory are in `federatedUsers`.
 */
export const readKeycloak: ReadExport = (document) => {
  const realm = members(document);
  const users = [realm.users, realm.federatedUsers];
  if (![realm.clients, ...users].some(Array.isArray))
    throw new TypeError('has to be a realm with clients or users');
  const clients = list(realm.clients).map(members);
  return {
    clients: clients
      .filter(({ clientId }) => !builtIn.includes(String(clientId)))
      .map((client) => clientOf(client, realm)),
    consents: users.flatMap(list).map(members).flatMap(consentsOf),
  };
};
