import type { SortedRequest, TwoWayPage } from '@ostiary/core/admin';
import { type Html, html } from '@ostiary/core/pages';
import { type Order, orderOf, orders } from '../list-order.ts';
import { aroundPage, perPage } from '../two-way.ts';
import { listed, type OperatorContext, twoWayPageOf } from './visit.ts';

/** Shows a list that can be sorted by name or time and paged in both directions. */
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
    readonly orders?: readonly [Order, ...Order[]];
  },
): Promise<Html> {
  const { count, urlOf, orders: choices = ['name', 'name-down', 'newest', 'oldest'] } = list;
  const { rows, next, previous } = await listed(() =>
    list.read({ ...orders[orderOf(visit.query, choices)], ...twoWayPageOf(visit, perPage) }),
  );
  if (rows.length === 0 && previous === null) return html`<p class="muted">${list.empty}</p>`;
  const page = { shown: rows.length, count, next, previous, orders: choices, urlOf };
  const { head, links } = aroundPage(visit, page);
  return html`${head}
<ul class="rows">${rows.map(list.rowOf)}</ul>
${links}`;
}
