import { type Html, html } from '@ostiary/core/pages';

/** Orders in which a list can be sorted, by their name in the URL. */
export const orders = {
  name: { by: 'name', descending: false },
  'name-down': { by: 'name', descending: true },
  newest: { by: 'created', descending: true },
  oldest: { by: 'created', descending: false },
} as const;

/** Order in which a list is sorted. */
export type Order = keyof typeof orders;

/** Orders of a list that is sorted by time only, the default first. */
export const timeOrders = ['newest', 'oldest'] as const;

/** Returns the order that the URL names. @param choices - orders of the list; the first is the default */
export const orderOf = <Choice extends Order>(
  query: URLSearchParams,
  choices: readonly [Choice, ...Choice[]],
): Choice => choices.find((one) => one === query.get('sort')) ?? choices[0];

/** Makes the hidden field with which the form of a list's filters keeps the chosen order; `null` if none was chosen. */
export function orderField(query: URLSearchParams): Html | null {
  const order = query.get('sort') ?? '';
  return Object.hasOwn(orders, order) ? html`<input type="hidden" name="sort" value="${order}">` : null;
}
