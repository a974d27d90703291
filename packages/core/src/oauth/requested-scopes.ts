import { OAuthError } from '../errors.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { ScopeCatalog } from '../scopes/catalog.ts';
import { offlineAccess } from '../scopes/scopes.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { invalid, printed } from './request-parameters.ts';

/**
 * Returns the scopes of a request, or the client's `defaultScope` if the request has none. Leaves out
 * `offline_access` if only this client may not use it (OpenID Connect Core, section 11), because clients add
 * it as soon as the metadata lists it.
 * @throws OAuthError if no scope is requested, or a scope is unknown or not allowed for this client
 */
export function requestedScopes(
  catalog: ScopeCatalog,
  scope: string | undefined,
  client: ClientRecord,
): string[] {
  const named = spaceSeparated(scope ?? '');
  const requested = named.length > 0 ? named : spaceSeparated(client.defaultScope ?? '');
  if (requested.length === 0) throw invalid('The parameter scope is missing.');
  const isAllowed = (name: string) => catalog.has(name) && client.allowedScopes.includes(name);
  const isLeftOut = (name: string) => name === offlineAccess && catalog.has(name);
  const allowed = requested.filter(isAllowed);
  const refused = requested.filter((name) => !isAllowed(name) && (allowed.length === 0 || !isLeftOut(name)));
  if (refused.length === 0) return allowed;
  const isSeparatedOtherwise = refused.some((name) => {
    const parts = name.split(/[,;+]|%20/).filter((part) => part !== '');
    return parts.join('') !== name && parts.some((part) => catalog.has(part));
  });
  const hint = isSeparatedOtherwise ? ' Scopes are separated by spaces.' : '';
  throw new OAuthError(
    'invalid_scope',
    `Not allowed: ${printed(refused)}. This client's allowedScopes: ${client.allowedScopes.join(' ')}.${hint}`,
  );
}
