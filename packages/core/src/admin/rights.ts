import { OAuthError } from '../errors.ts';
import type { OperatorRight, OperatorRole } from '../ports/operators.ts';

/** All rights that an operator can have. */
export const operatorRights = [
  'partners',
  'keys',
  'clients',
  'webhooks',
  'payments',
  'users',
  'service',
] as const satisfies readonly OperatorRight[];

/**
 * Rights of the usual roles, to be returned as `may`. `viewer` sees all pages except those that name users, and
 * changes nothing.
 */
export const operatorRoles: { readonly [Role in OperatorRole]: readonly OperatorRight[] } = {
  viewer: [],
  support: ['webhooks', 'payments', 'users'],
  admin: ['partners', 'keys', 'clients', 'webhooks', 'payments', 'users'],
  owner: operatorRights,
};

/** Rights that administrative acts need, by the first part of the act's name: `client.disable` needs `clients`. */
const rightByNoun = new Map<string, OperatorRight>([
  ['partner', 'partners'],
  ['portal', 'partners'],
  ['key', 'keys'],
  ['client', 'clients'],
  ['endpoint', 'webhooks'],
  ['event', 'webhooks'],
  ['user', 'users'],
  ['consent', 'users'],
  ['signing_key', 'service'],
  ['storage', 'service'],
]);

/**
 * Returns the right that an administrative act needs.
 * @throws TypeError for an act without an entry, so that a new act cannot be forgotten here
 */
export function rightFor(action: string): OperatorRight {
  const right = rightByNoun.get(action.split('.')[0] ?? '');
  if (right === undefined) throw new TypeError(`no right is named for the act ${action}`);
  return right;
}

/**
 * Refuses an act for which an operator lacks the right. This is the only check of rights: the operators'
 * pages and the administrative calls both use it.
 * @throws OAuthError with status 403, shown as a page
 */
export function requireRight(may: readonly OperatorRight[], right: OperatorRight): void {
  if (may.includes(right)) return;
  throw new OAuthError('access_denied', `This needs the right ${right}.`, {
    status: 403,
    page: 'not_allowed',
  });
}
