import type { ImportedConsent } from '@ostiary/core/admin';
import { present } from '../command.ts';
import { list, type Members, members, moment, type ReadExport, text, texts } from './found.ts';
import { clientOfMetadata } from './metadata.ts';

/** A consent session; one that is not remembered was for one sign-in. */
function consentOf(session: Members): readonly ImportedConsent[] {
  const request = members(session.consent_request);
  const sub = text(request.subject) ?? text(session.subject);
  const clientId = text(members(request.client).client_id);
  const scopes = texts(session.grant_scope).map((scope) => (scope === 'offline' ? 'offline_access' : scope));
  if (sub === undefined || clientId === undefined || scopes.length === 0 || session.remember !== true)
    return [];
  const remembered = typeof session.remember_for === 'number' ? session.remember_for : 0;
  const grantedAt = moment(session.handled_at);
  const hasEnded = remembered > 0 && (grantedAt?.getTime() ?? 0) + remembered * 1000 <= Date.now();
  return hasEnded ? [] : [{ sub, clientId, scopes, ...present({ grantedAt }) }];
}

/**
 * What Hydra lists of clients (`hydra list oauth2-clients --format json`, or its administrative API) and of consent sessions. It
 * tells no secrets: `client_secret` can be added from the column of that name, as it is.
 */
export const readHydra: ReadExport = (document) => {
  const items = Array.isArray(document) ? document : members(document).items;
  if (!Array.isArray(items)) throw new TypeError('has to be a list of clients or of consent sessions');
  const found = list(items).map(members);
  return {
    clients: found
      .filter((one) => text(one.client_id) !== undefined)
      .map((one) => {
        const client = clientOfMetadata(one);
        const isFirstParty = one.skip_consent === true;
        return { ...client, settings: { ...client.settings, ...(isFirstParty && { firstParty: true }) } };
      }),
    consents: found.filter((one) => one.consent_request !== undefined).flatMap(consentOf),
  };
};
