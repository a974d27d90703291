import type { ClientRecord } from '../ports/clients.ts';
import type { ConsentRecord } from '../ports/grants.ts';

/**
 * Checks whether a scope is optional: whether the user may leave it out on the consent page and approve the
 * rest.
 */
export const isOptional = (client: ClientRecord, scope: string): boolean =>
  client.optionalScopes?.includes(scope) ?? false;

/**
 * Returns the part of an authorization request that the stored consent covers: all requested scopes and
 * resources, except optional scopes that the user left out. Returns `null` if the user must be asked.
 * @param requested - names of scopes and URIs of resources, as consents store them
 */
export function consentedPart(
  client: ClientRecord,
  consent: ConsentRecord | null,
  requested: readonly string[],
): string[] | null {
  if (consent === null) return null;
  const approved = requested.filter((name) => consent.scopes.includes(name));
  const isDecided = requested.every(
    (name) => approved.includes(name) || (isOptional(client, name) && consent.declined.includes(name)),
  );
  return isDecided && approved.length > 0 ? approved : null;
}
