import type { ImportedConsent, NewClient } from '@ostiary/core/admin';
import { present } from '../command.ts';
import {
  type FoundClient,
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

/** An address as the realm means it: one without origin goes behind the client's root. */
const absolute = (root: string | undefined) => (uri: string) =>
  root !== undefined && uri.startsWith('/') ? new URL(uri, root).href : uri;

function afterLogout(
  attributes: Members,
  redirectUris: readonly string[],
  absoluteUri: (uri: string) => string,
) {
  const given = (text(attributes['post.logout.redirect.uris']) ?? '')
    .split('##')
    .filter((uri) => !/^-?$/.test(uri));
  // A plus sign stands for the redirect URIs.
  return [...new Set(given.flatMap((uri) => (uri === '+' ? redirectUris : [absoluteUri(uri)])))];
}

function leftOf(client: Members): readonly string[] {
  return [
    ...(client.serviceAccountsEnabled === true ? ['service account'] : []),
    ...(client.directAccessGrantsEnabled === true ? ['passwords as grants'] : []),
    ...(client.implicitFlowEnabled === true ? ['implicit flow'] : []),
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

function clientOf(client: Members): FoundClient {
  const clientId = text(client.clientId) ?? '';
  const attributes = members(client.attributes);
  const secret = text(client.secret);
  const absoluteUri = absolute(text(client.rootUrl));
  const redirectUris = texts(client.redirectUris).map(absoluteUri);
  const scopes = [...texts(client.defaultClientScopes), ...texts(client.optionalClientScopes)];
  const alg = attributes['id.token.signed.response.alg'];
  const settings: NewClient = {
    clientId,
    name: text(client.name) ?? clientId,
    redirectUris,
    // What every client of Keycloak may ask for without saying so.
    allowedScopes: [...new Set(['openid', ...scopes])],
    postLogoutRedirectUris: afterLogout(attributes, redirectUris, absoluteUri),
    requirePkce: attributes['pkce.code.challenge.method'] === 'S256',
    ...(client.publicClient === true ? { public: true } : secret !== undefined && secretOf(secret)),
    ...present({
      termsUrl: text(attributes.tosUri),
      privacyUrl: text(attributes.policyUri),
      backchannelLogoutUri: text(attributes['backchannel.logout.url']),
      idTokenAlg: alg === 'ES256' || alg === 'RS256' ? alg : undefined,
    }),
  };
  return { clientId, settings, left: leftOf(client), reason: reasonOf(client, secret) };
}

function consentsOf(user: Members): readonly ImportedConsent[] {
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

/** A realm as `kc.sh export` writes it, with its users in the same file or in files of their own (`realm-users-0.json`). */
export const readKeycloak: ReadExport = (document) => {
  const realm = members(document);
  if (!Array.isArray(realm.clients) && !Array.isArray(realm.users))
    throw new TypeError('has to be a realm with clients or users');
  const clients = list(realm.clients).map(members);
  return {
    clients: clients.filter(({ clientId }) => !builtIn.includes(String(clientId))).map(clientOf),
    consents: list(realm.users).map(members).flatMap(consentsOf),
  };
};
