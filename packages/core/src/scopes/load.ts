import type { UserRecord } from '../ports/users.ts';
import { type CatalogScope, checkedBy, type HostScopes, type ScopeCatalog } from './catalog.ts';
import { type ScopeDefinition, scopeNames, scopes } from './scopes.ts';
import { shownField } from './user-record.ts';

const oneOfTheFive = ({ fields, consent }: ScopeDefinition): CatalogScope => ({
  claims: Object.entries(fields).map(([field, check]) => ({
    name: field,
    of: (user) => checkedBy(check, shownField(user, field as keyof UserRecord), field),
  })),
  consent,
});

/**
 * Loads the scope catalogue for the option `scopes`: built-in scopes, those of the host application, and
 * `offline_access` if the option `refreshTokens` is set.
 * @param languages - language tags of the option `languages`
 * @param refreshTokens - true if the option `refreshTokens` is set
 * @throws TypeError that names one or more faulty scopes of the host by their paths
 */
export async function loadScopes(
  given: HostScopes,
  languages: readonly string[],
  refreshTokens: boolean,
): Promise<ScopeCatalog> {
  const five = new Map(scopeNames.map((name) => [name as string, oneOfTheFive(scopes[name])]));
  const areMore = refreshTokens || Object.keys(given).length > 0;
  const all = areMore
    ? (await import('./host-scopes.ts')).withHostScopes(five, given, languages, refreshTokens)
    : five;
  return Object.freeze({
    names: [...all.keys()],
    has: (name: string) => all.has(name),
    claimsOf: (name: string) => all.get(name)?.claims ?? [],
    consents: Object.fromEntries([...all].map(([name, { consent }]) => [name, consent])),
  });
}
