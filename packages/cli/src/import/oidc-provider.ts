import { present } from '../command.ts';
import {
  type FoundConsent,
  handled,
  isSet,
  leftOf,
  type MemberRules,
  type Members,
  members,
  moment,
  type ReadExport,
  text,
  words,
} from './found.ts';
import { clientOfMetadata } from './metadata.ts';

/**
 * Returns the payload of an oidc-provider record: the record itself, or the `payload` member of a row or
 * document.
 */
const payloadOf = (row: unknown): Members => {
  const { payload } = members(row);
  return members(typeof payload === 'string' ? JSON.parse(payload) : (payload ?? row));
};

/** Rules for the members of oidc-provider's model `Grant`. */
const grantRules: MemberRules = {
  accountId: handled,
  clientId: handled,
  exp: handled,
  iat: handled,
  jti: handled,
  kind: handled,
  openid: (openid) => isSet('single claims')(members(openid).claims),
  rar: isSet('authorization details'),
  rejected: handled,
  resources: isSet('scopes of resources'),
};

/**
 * Reads a grant of oidc-provider: the scopes that the user approved, valid until `exp`. Scopes that the user
 * rejected take precedence, except `openid`.
 */
function consentOf(grant: Members, now: number): FoundConsent {
  const [sub = '', clientId = ''] = [text(grant.accountId), text(grant.clientId)];
  const rejected = words(members(members(grant.rejected).openid).scope);
  const scopes = words(members(grant.openid).scope);
  const hasEnded = typeof grant.exp === 'number' && grant.exp * 1000 <= now;
  return {
    ...{ sub, clientId, left: leftOf(grant, grantRules) },
    scopes: scopes.filter((scope) => scope === 'openid' || !rejected.includes(scope)),
    omission: sub === '' || clientId === '' ? 'incomplete' : hasEnded ? 'ended' : null,
    ...present({ grantedAt: moment(grant.iat) }),
  };
}

/**
 * Reads `Client` and `Grant` records as an adapter of oidc-provider stores them, a single record or an array.
 * Also reads the `clients` array of its configuration. Skips other models.
 */
export const readOidcProvider: ReadExport = (document) => {
  const { clients: configured } = members(document);
  const payloads = [Array.isArray(configured) ? configured : document].flat(2).map(payloadOf);
  const now = Date.now();
  return {
    clients: payloads
      .filter((one) => text(one.client_id) !== undefined)
      .map((one) => clientOfMetadata(one, now)),
    consents: payloads.filter((one) => one.kind === 'Grant').map((one) => consentOf(one, now)),
  };
};
