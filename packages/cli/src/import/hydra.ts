import { present } from '../command.ts';
import {
  type Found,
  type FoundConsent,
  list,
  type Members,
  members,
  moment,
  type ReadExport,
  standardScopes,
  text,
  texts,
} from './found.ts';
import { clientOfMetadata } from './metadata.ts';

/** A consent session; one that is not remembered was for one sign-in. */
function consentOf(session: Members): readonly FoundConsent[] {
  const request = members(session.consent_request);
  const sub = text(request.subject);
  const clientId = text(members(request.client).client_id);
  const scopes = standardScopes(texts(session.grant_scope));
  if (sub === undefined || clientId === undefined || session.remember !== true) return [];
  const ends = typeof session.remember_for === 'number' && session.remember_for > 0;
  return [{ sub, clientId, scopes, ends, ...present({ grantedAt: moment(session.handled_at) }) }];
}

/** Lists that were written one behind the other, and pages of them, are one list. */
const itemsOf = (document: unknown): readonly unknown[] | null => {
  const items = Array.isArray(document) ? document : members(document).items;
  return Array.isArray(items) ? items.flatMap((item) => itemsOf(item) ?? [item]) : null;
};

/**
 * What Hydra lists of clients (`hydra list oauth2-clients --format json`, or its administrative API) and of consent sessions. It
 * tells no secrets: `client_secret` can be added from the column of that name, as it is.
 */
export const readHydra: ReadExport = (document) => {
  const { client_id: clientId, consent_request: consent } = members(document);
  // One line alone is no list.
  const items = itemsOf((clientId ?? consent) === undefined ? document : [document]);
  if (items === null) throw new TypeError('has to be a list of clients or of consent sessions');
  const found = items.map(members);
  return {
    clients: found
      .filter((one) => text(one.client_id) !== undefined)
      .map((one) => {
        // None named are those of the standard's default.
        const { grant_types: grants, ...metadata } = one;
        return clientOfMetadata(list(grants).length === 0 ? metadata : one);
      }),
    consents: found.filter((one) => one.consent_request !== undefined).flatMap(consentOf),
  };
};

/** Of a user and a client the latest session counts alone: scopes that it has no more were taken back. */
export function latestOfHydra(consents: Found['consents']): Found['consents'] {
  const timeOf = ({ grantedAt }: FoundConsent) => grantedAt?.getTime() ?? 0;
  const latest = new Map<string, FoundConsent>();
  for (const consent of consents.toSorted((one, other) => timeOf(one) - timeOf(other)))
    latest.set(JSON.stringify([consent.sub, consent.clientId]), consent);
  return [...latest.values()];
}
