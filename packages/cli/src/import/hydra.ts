import { present } from '../command.ts';
import {
  type Found,
  type FoundConsent,
  handled,
  isSet,
  leftOf,
  list,
  type MemberRules,
  type Members,
  members,
  moment,
  type ReadExport,
  standardScopes,
  text,
  texts,
} from './found.ts';
import { clientOfMetadata } from './metadata.ts';

/** Checks whether Hydra ignores the port of a redirect URI: of every loopback IP address, but not of `localhost`. */
const ignoresPort = (uri: string): boolean =>
  /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d*)?(?:[/?]|$)/i.test(uri);

/** Rules for the members of Hydra's consent sessions. */
const sessionRules: MemberRules = {
  consent_request: handled,
  consent_request_id: handled,
  context: isSet('its context'),
  expires_at: handled,
  grant_access_token_audience: isSet('audience'),
  grant_scope: handled,
  handled_at: handled,
  remember: handled,
  remember_for: handled,
  session: isSet('claims of its tokens'),
};

/** Reads a consent session of Hydra. A session that is not remembered was for one sign-in. */
function consentOf(session: Members): FoundConsent {
  const request = members(session.consent_request);
  const sub = text(request.subject) ?? '';
  const clientId = text(members(request.client).client_id) ?? '';
  const isLimited = typeof session.remember_for === 'number' && session.remember_for > 0;
  const isRemembered = session.remember === true;
  return {
    ...{ sub, clientId, scopes: standardScopes(texts(session.grant_scope)) },
    left: leftOf(session, sessionRules),
    omission:
      sub === '' || clientId === ''
        ? 'incomplete'
        : !isRemembered
          ? 'notRemembered'
          : isLimited
            ? 'limited'
            : null,
    ...present({ grantedAt: moment(session.handled_at) }),
  };
}

/**
 * Converts nested lists and pages of items in an export to one list; `null` if the document is not a list.
 */
const itemsOf = (document: unknown): readonly unknown[] | null => {
  const items = Array.isArray(document) ? document : members(document).items;
  return Array.isArray(items) ? items.flatMap((item) => itemsOf(item) ?? [item]) : null;
};

/**
 * Reads clients (`hydra list oauth2-clients --format json`, or the administrative API) and consent sessions
 * of Hydra. The exports do not contain secrets: add `client_secret` from the database column of that name,
 * unchanged.
 */
export const readHydra: ReadExport = (document) => {
  const { client_id: clientId, consent_request: consent } = members(document);
  // A file with a single line is a single item, not a list.
  const items = itemsOf((clientId ?? consent) === undefined ? document : [document]);
  if (items === null) throw new TypeError('must be a list of clients or of consent sessions');
  const found = items.map(members);
  return {
    clients: found
      .filter((one) => text(one.client_id) !== undefined)
      .map((one) => {
        // An empty list of grant types means the standard's default, so drop the member.
        const { grant_types: grants, ...metadata } = one;
        return clientOfMetadata(list(grants).length === 0 ? metadata : one, Date.now(), ignoresPort);
      }),
    consents: found.filter((one) => one.consent_request !== undefined).map(consentOf),
  };
};

/**
 * Returns only the latest remembered consent session of each user and client, because scopes missing from it
 * were revoked. Sessions that were not remembered or are incomplete are kept, so that they are reported.
 */
export function latestOfHydra(consents: Found['consents']): Found['consents'] {
  const timeOf = ({ grantedAt }: FoundConsent) => grantedAt?.getTime() ?? 0;
  const isRemembered = ({ omission }: FoundConsent) => omission === null || omission === 'limited';
  const latest = new Map<string, FoundConsent>();
  for (const consent of consents.filter(isRemembered).toSorted((one, other) => timeOf(one) - timeOf(other)))
    latest.set(JSON.stringify([consent.sub, consent.clientId]), consent);
  return [...latest.values(), ...consents.filter((consent) => !isRemembered(consent))];
}
