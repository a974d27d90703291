import type { ImportedConsent } from '@ostiary/core/admin';
import { present } from '../command.ts';
import { type Members, members, moment, type ReadExport, text, words } from './found.ts';
import { clientOfMetadata } from './metadata.ts';

/** What an adapter was given to keep: by itself, or as `payload` of a row or a document. */
const payloadOf = (row: unknown): Members => {
  const { payload } = members(row);
  return members(typeof payload === 'string' ? JSON.parse(payload) : (payload ?? row));
};

/** A grant remembers what the user consented to, until `exp`. */
function consentOf(grant: Members, now: number): readonly ImportedConsent[] {
  const [sub, clientId] = [text(grant.accountId), text(grant.clientId)];
  const scopes = words(members(grant.openid).scope);
  const hasEnded = typeof grant.exp === 'number' && grant.exp * 1000 <= now;
  if (sub === undefined || clientId === undefined || scopes.length === 0 || hasEnded) return [];
  return [{ sub, clientId, scopes, ...present({ grantedAt: moment(grant.iat) }) }];
}

/**
 * Rows of the models `Client` and `Grant` as an adapter of oidc-provider keeps them: one, or arrays of them; the `clients` of its
 * configuration are such an array, too. Other models are passed over.
 */
export const readOidcProvider: ReadExport = (document) => {
  const { clients: configured } = members(document);
  const payloads = [Array.isArray(configured) ? configured : document].flat(2).map(payloadOf);
  const now = Date.now();
  return {
    clients: payloads
      .filter((one) => text(one.client_id) !== undefined)
      .map((one) => clientOfMetadata(one, now)),
    consents: payloads.filter((one) => one.kind === 'Grant').flatMap((one) => consentOf(one, now)),
  };
};
