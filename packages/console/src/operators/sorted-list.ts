import type { SortedRequest, TwoWayPage } from '@ostiary/core/admin';
import { type Html, html } from '@ostiary/core/pages';
import { aroundPage, perPage } from '../two-way.ts';
import { listed, type OperatorContext, parameter, twoWayPageOf } from './visit.ts';

/** Orders in which a list can be sorted, by their name in the URL. The first is the default. */
const orders = {
  name: { by: 'name', descending: false },
  'name-down': { by: 'name', descending: true },
  newest: { by: 'created', descending: true },
  oldest: { by: 'created', descending: false },
} as const satisfies Readonly<Record<string, SortedRequest>>;

/** Order in which a list is sorted. */
export type Order = keyof typeof orders;

/**
 * Shows a list that can be sorted by name or time and paged in both directions.
 */
export async function sortedList<Row>(
  visit: OperatorContext,
  list: {
    readonly read: (request: SortedRequest) => Promise<TwoWayPage<Row>>;
    /** Number of rows of the whole list; `null` if the rows were not counted. */
    readonly count: number | null;
    readonly rowOf: (row: Row) => Html;
    readonly urlOf: (query: { readonly [name: string]: string | null }) => string;
    readonly empty: string;
    /** Orders that the visitor can choose, the default first. @defaultValue all orders */
    readonly orders?: readonly Order[];
  },
): Promise<Html> {
  const { voice } = visit;
  const text = voice.words.lists;
  const asked = parameter(visit, 'sort');
  const choices = list.orders ?? (Object.keys(orders) as Order[]);
  const [usual = 'name'] = choices;
  const order = choices.find((one) => one === asked) ?? usual;
  const sortOf = (one: Order): string | null => (one === usual ? null : one);
  const sort = sortOf(order);
  const { rows, next, previous } = await listed(() =>
    list.read({ ...orders[order], ...twoWayPageOf(visit, perPage) }),
  );
  const { range, links } = aroundPage(visit, {
    ...{ shown: rows.length, count: list.count, next, previous },
    urlOf: (place) => list.urlOf({ sort, ...place }),
  });
  const choice = (one: Order): Html => {
    const href = list.urlOf({ sort: sortOf(one) });
    return one === order
      ? html`<a href="${href}" aria-current="true">${text[one]}</a>`
      : html`<a href="${href}">${text[one]}</a>`;
  };
  if (rows.length === 0 && previous === null) return html`<p class="muted">${list.empty}</p>`;
  return html`<div class="order">${choices.length < 2 ? null : html`<nav aria-label="${text.order}">${choices.map(choice)}</nav>`}${range}</div>
<ul class="rows">${rows.map(list.rowOf)}</ul>
${links}`;
}
