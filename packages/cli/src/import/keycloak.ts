import type { NewClient } from '@ostiary/core/admin';
import { present } from '../command.ts';
import {
  algorithmOf,
  type FoundClient,
  type FoundConsent,
  leftOf,
  list,
  type Members,
  members,
  moment,
  otherOrigins,
  portsOf,
  type ReadExport,
  secretOf,
  text,
  texts,
} from './found.ts';
import { attributeRules, clientRules, consentRules, secondsOf } from './keycloak-members.ts';

/** Built-in clients that every realm of Keycloak has. They are not imported. */
const builtIn = [
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
];

/**
 * Scopes that only make Keycloak write claims and roles into its tokens. Apps do not request them by name.
 */
const plumbing = ['acr', 'basic', 'microprofile-jwt', 'roles', 'service_account', 'web-origins'];

/** Makes a URL of Keycloak absolute: Keycloak appends a URI without origin to the client's root URL. */
const absolute = (root: string | undefined) => (uri: string) =>
  root !== undefined && uri.startsWith('/') ? `${root}${uri}` : uri;

/**
 * Returns the post-logout redirect URIs of a Keycloak client. Keycloak uses the redirect URIs if none are set
 * or for `+`, and `-` means none.
 */
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

/**
 * Checks whether Keycloak accepts any port of a redirect URI: of a loopback address that is registered without
 * a port.
 */
const ignoresPort = (uri: string): boolean => /^http:\/\/(?:localhost|127\.0\.0\.1)(?:[/?]|$)/i.test(uri);

function leftOfClient(
  client: Members,
  algorithm: string,
  redirectUris: readonly string[],
): readonly string[] {
  return [
    ...(algorithmOf(algorithm) === undefined ? [`ID tokens by ${algorithm}`] : []),
    ...leftOf(client, { ...clientRules, webOrigins: otherOrigins(redirectUris) }),
    ...leftOf(members(client.attributes), attributeRules),
  ];
}

/** Checks whether a Keycloak client's secret has expired, according to the realm's policy. */
function hasEnded(attributes: Members, now: number): boolean {
  const end = secondsOf(attributes['client.secret.expiration.time']);
  return end !== null && end.getTime() <= now;
}

function reasonOf(client: Members, secret: string | undefined, now: number): string | null {
  const method = text(client.clientAuthenticatorType) ?? 'client-secret';
  if (client.enabled === false) return 'it is disabled';
  if ((client.protocol ?? 'openid-connect') !== 'openid-connect') return `it speaks ${client.protocol}`;
  if (client.bearerOnly === true) return 'it is bearer-only: create it as a resource server';
  if (client.standardFlowEnabled === false) return 'it does not use the authorization code grant';
  if (client.publicClient === true) return null;
  if (method !== 'client-secret') return `it authenticates by ${method}`;
  if (secret === undefined || /^\*+$/.test(secret))
    return 'its secret is not in the file: export the realm with secrets, or create it';
  if (hasEnded(members(client.attributes), now)) return 'its secret has expired';
  return null;
}

function clientOf(client: Members, realm: Members, now: number): FoundClient {
  const clientId = text(client.clientId) ?? '';
  const attributes = members(client.attributes);
  const secret = text(client.secret);
  const absoluteUri = absolute(text(client.rootUrl));
  const redirectUris = texts(client.redirectUris).map(absoluteUri);
  const scopes = [...texts(client.defaultClientScopes), ...texts(client.optionalClientScopes)];
  const algorithm =
    text(attributes['id.token.signed.response.alg']) ?? text(realm.defaultSignatureAlgorithm) ?? 'RS256';
  const getsRefreshTokens = attributes['use.refresh.tokens'] !== 'false';
  const backchannel = text(attributes['backchannel.logout.url']);
  const ports = portsOf(redirectUris, ignoresPort, client.publicClient === true);
  const settings: NewClient = {
    clientId,
    name: text(client.name) ?? clientId,
    redirectUris,
    ...ports.settings,
    // Every client of Keycloak may request `openid`, although the export does not list this scope.
    allowedScopes: [...new Set(['openid', ...scopes])].filter(
      (scope) => !plumbing.includes(scope) && (scope !== 'offline_access' || getsRefreshTokens),
    ),
    postLogoutRedirectUris: afterLogout(attributes, redirectUris, absoluteUri),
    requirePkce: attributes['pkce.code.challenge.method'] === 'S256',
    ...(attributes['dpop.bound.access.tokens'] === 'true' && { requireDpop: true }),
    // Keycloak only authenticates confidential clients by secret, or by methods whose clients `reasonOf`
    // refuses.
    ...(client.publicClient === true
      ? { public: true }
      : { requireSecret: true, ...(secret !== undefined && secretOf(secret)) }),
    ...present({
      termsUrl: text(attributes.tosUri),
      privacyUrl: text(attributes.policyUri),
      backchannelLogoutUri: backchannel && absoluteUri(backchannel),
      idTokenAlg: algorithmOf(algorithm),
    }),
  };
  const left = [...leftOfClient(client, algorithm, redirectUris), ...ports.left];
  return { clientId, settings, left, reason: reasonOf(client, secret, now) };
}

function consentsOf(user: Members): readonly FoundConsent[] {
  const sub = text(user.id) ?? '';
  return list(user.clientConsents)
    .map(members)
    .map((consent) => {
      const clientId = text(consent.clientId) ?? '';
      const isIncomplete = sub === '' || clientId === '';
      const granted = texts(consent.grantedClientScopes).filter((scope) => !plumbing.includes(scope));
      return {
        ...{ sub, clientId, scopes: ['openid', ...granted], left: leftOf(consent, consentRules) },
        omission: isIncomplete ? 'incomplete' : user.enabled === false ? 'ofDisabledUser' : null,
        ...present({ grantedAt: moment(consent.createdDate) }),
      };
    });
}

/**
 * Reads a realm as `kc.sh export` writes it, with users in the same file or in separate files
 * (`shop-users-0.json`). Users of another directory are in `federatedUsers`.
 */
export const readKeycloak: ReadExport = (document) => {
  const realm = members(document);
  const users = [realm.users, realm.federatedUsers];
  if (![realm.clients, ...users].some(Array.isArray))
    throw new TypeError('must be a realm with clients or users');
  const clients = list(realm.clients).map(members);
  const now = Date.now();
  return {
    clients: clients
      .filter(({ clientId }) => !builtIn.includes(String(clientId)))
      .map((client) => clientOf(client, realm, now)),
    consents: users.flatMap(list).map(members).flatMap(consentsOf),
  };
};
