import type { ScopeCatalog } from './catalog.ts';
import { comparableUri } from './resource-uris.ts';
import { offlineAccess } from './scopes.ts';

// This module is loaded only with the option `resources`.

/** An API for which apps request access tokens (RFC 8707). */
export interface Resource {
  /** Name of the API on the consent page, 1 to 100 characters. */
  readonly name: string;
  /**
   * Scopes of this API. Apps can request a scope only together with the URI of an API that lists it, as
   * `resource`. Scopes of no API can be requested with or without a resource.
   */
  readonly scopes: readonly string[];
}

/** Value of the option `resources`: each API by its URI. */
export type HostResources = { readonly [uri: string]: Resource };

/** All entries of the option `resources`, with look-ups by URI and scope. */
export interface ResourceCatalog {
  /** URIs of all resources, in the spelling and order of the option `resources`. */
  readonly uris: readonly string[];
  /**
   * Returns the URI of a resource in the spelling of the option `resources`; `null` if the text names no
   * resource.
   */
  readonly find: (text: string) => string | null;
  /** Returns the name of a resource; its URI if the option `resources` no longer contains it. */
  readonly nameOf: (uri: string) => string;
  readonly scopesOf: (uri: string) => readonly string[];
  /** Checks whether a scope belongs to one of the given resources, or to no resource. */
  readonly isGrantable: (scope: string, resources: readonly string[]) => boolean;
}

const maxResources = 100;
const maxUriLength = 2048;

/** Scopes that no API may list as its own, because they concern the user and the session. */
const scopesOfNoResource = ['openid', offlineAccess];

function requireUri(uri: string, scopes: ScopeCatalog): string {
  if (scopes.has(uri)) throw new TypeError(`resources.${uri}: is the name of a scope`);
  const compared = uri.length <= maxUriLength ? comparableUri(uri) : null;
  if (compared === null) {
    throw new TypeError(
      `resources.${uri}: must be an absolute URI without a fragment, such as https://api.example.com/v1 (RFC 8707, section 2)`,
    );
  }
  return compared;
}

function requireScopes(uri: string, names: readonly string[], scopes: ScopeCatalog): void {
  for (const name of names) {
    if (!scopes.has(name)) throw new TypeError(`resources.${uri}.scopes: there is no scope ${name}`);
    if (scopesOfNoResource.includes(name))
      throw new TypeError(`resources.${uri}.scopes: ${name} belongs to no resource`);
  }
}

/**
 * Validates the option `resources` and creates its catalogue.
 * @throws TypeError that names the first invalid resource by its path
 */
export function loadResources(given: HostResources, scopes: ScopeCatalog): ResourceCatalog {
  const uris = Object.keys(given);
  if (uris.length > maxResources) throw new TypeError(`resources: takes ${maxResources} at most`);
  const spelled = new Map<string, string>();
  for (const [uri, { scopes: names }] of Object.entries(given)) {
    const compared = requireUri(uri, scopes);
    const same = spelled.get(compared);
    if (same !== undefined) throw new TypeError(`resources.${uri}: is the same resource as ${same}`);
    spelled.set(compared, uri);
    requireScopes(uri, names, scopes);
  }
  const owned = new Set(Object.values(given).flatMap((resource) => resource.scopes));
  const known = new Map(Object.entries(given));
  const scopesOf = (uri: string): readonly string[] => known.get(uri)?.scopes ?? [];
  return Object.freeze({
    uris,
    find: (text: string) => spelled.get(comparableUri(text) ?? '') ?? null,
    nameOf: (uri: string) => known.get(uri)?.name ?? uri,
    scopesOf,
    isGrantable: (scope: string, resources: readonly string[]) =>
      !owned.has(scope) || resources.some((uri) => scopesOf(uri).includes(scope)),
  });
}
