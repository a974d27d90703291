import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { GrantState } from '../ports/grants.ts';
import type { ResourceCatalog } from '../scopes/resources.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { printed } from './request-parameters.ts';

/** Maximum length of a resource URI that an error description repeats, in characters. */
const maxPrinted = 200;

const invalidTarget = (reason: string, uris: readonly string[]): OAuthError =>
  new OAuthError('invalid_target', `${reason}: ${printed(uris, maxPrinted)}.`);

/**
 * Returns the requested resources (RFC 8707, section 2) in the spelling of the option `resources`. Without
 * that option, the parameter is ignored.
 * @param resource - the values of the parameter, separated by spaces
 * @throws OAuthError `invalid_target` for an unknown one
 */
export function requestedResources(catalog: ResourceCatalog | undefined, resource: string): string[] {
  if (catalog === undefined) return [];
  const found = spaceSeparated(resource).map((text) => {
    const uri = catalog.find(text);
    if (uri === null) throw invalidTarget('This resource is not known', [text]);
    return uri;
  });
  return [...new Set(found)];
}

/**
 * Checks that each requested scope belongs to no resource or to one of the requested resources. @throws
 * OAuthError `invalid_scope` otherwise
 */
export function requireGrantable(
  catalog: ResourceCatalog | undefined,
  scopes: readonly string[],
  resources: readonly string[],
): void {
  const refused = scopes.filter((scope) => catalog?.isGrantable(scope, resources) === false);
  if (refused.length === 0) return;
  throw new OAuthError(
    'invalid_scope',
    `The parameter resource has to name a resource that these scopes belong to: ${printed(refused)}.`,
  );
}

/** Scopes and resources of a grant for which an access token is issued. */
export interface GrantPart {
  readonly scopes: readonly string[];
  readonly resources: readonly string[] | null;
}

/**
 * Returns the part of a grant that a token request with the parameter `resource` asks for (RFC 8707, section
 * 2.2): the requested resources, with the scopes that belong to them or to no resource. Returns the whole
 * grant if the parameter names no resource, or without the option `resources`.
 * @param resource - the values of the parameter, separated by spaces
 * @throws OAuthError `invalid_target` for a resource that is unknown or was not authorized, or if no approved
 * scope belongs to the requested ones
 */
export function requestedPart({ options }: Core, grant: GrantState, resource: string): GrantPart {
  const catalog = options.resources;
  const asked = requestedResources(catalog, resource);
  if (catalog === undefined || asked.length === 0) return grant;
  const refused = asked.filter((uri) => !grant.resources?.includes(uri));
  if (refused.length > 0) throw invalidTarget('The user did not authorize access to', refused);
  const scopes = grant.scopes.filter((scope) => catalog.isGrantable(scope, asked));
  if (scopes.length === 0) throw invalidTarget('No approved scope belongs to', asked);
  return { scopes, resources: asked };
}
