import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { ConsentRecord } from '../ports/grants.ts';

/**
 * Checks whether a scope is optional: whether the user may leave it out on the consent page and approve the
 * rest.
 */
export const isOptional = (client: ClientRecord, scope: string): boolean =>
  client.optionalScopes?.includes(scope) ?? false;

/** Scopes and resources (RFC 8707) of an authorization request. */
export interface Requested {
  readonly scopes: readonly string[];
  /** URIs of the resources. */
  readonly resources: readonly string[];
}

/**
 * Returns the names of a scope for the requested resources that it belongs to: the scope and the URI,
 * separated by a space, which neither contains. A scope can belong to several resources, and the user
 * approves it for each of them.
 */
const namesAtResources = (
  { options }: Core,
  scope: string,
  { resources }: Pick<Requested, 'resources'>,
): string[] =>
  resources.filter((uri) => options.resources?.scopesOf(uri).includes(scope)).map((uri) => `${scope} ${uri}`);

/**
 * Returns the names under which a consent stores the user's decision: approved scopes and resources, and
 * declined scopes.
 */
export function namesToStore(
  core: Core,
  decision: {
    readonly approved: readonly string[];
    readonly declined: readonly string[];
    readonly resources: readonly string[];
  },
): Pick<ConsentRecord, 'scopes' | 'declined'> {
  const namesOf = (scopes: readonly string[]): string[] =>
    scopes.flatMap((scope) => [scope, ...namesAtResources(core, scope, decision)]);
  return {
    scopes: [...namesOf(decision.approved), ...decision.resources],
    declined: namesOf(decision.declined),
  };
}

/**
 * Returns the stored decision on a requested scope; `null` if there is none. A scope is approved if the user
 * approved it for all requested resources that it belongs to, and declined if the user left it out for one of
 * them.
 */
export function decisionOn(
  core: Core,
  consent: ConsentRecord | null,
  scope: string,
  requested: Requested,
): 'approved' | 'declined' | null {
  if (consent === null) return null;
  const atResources = namesAtResources(core, scope, requested);
  if ([scope, ...atResources].every((name) => consent.scopes.includes(name))) return 'approved';
  const names = atResources.length === 0 ? [scope] : atResources;
  return names.some((name) => consent.declined.includes(name)) ? 'declined' : null;
}

/**
 * Returns the requested scopes that the stored consent covers: all of them, except optional scopes that the
 * user left out. Returns `null` if the user must be asked.
 */
export function consentedScopes(
  core: Core,
  client: ClientRecord,
  consent: ConsentRecord | null,
  requested: Requested,
): string[] | null {
  const decisions = requested.scopes.map((scope) => ({
    scope,
    decision: decisionOn(core, consent, scope, requested),
  }));
  const isDecided =
    requested.resources.every((uri) => consent?.scopes.includes(uri)) &&
    decisions.every(
      ({ scope, decision }) =>
        decision === 'approved' || (decision === 'declined' && isOptional(client, scope)),
    );
  const approved = decisions.filter(({ decision }) => decision === 'approved').map(({ scope }) => scope);
  return isDecided && approved.length > 0 ? approved : null;
}
