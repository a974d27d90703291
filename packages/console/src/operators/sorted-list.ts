import { countedAtMost, type SortedRequest, type TwoWayPage } from '@ostiary/core/admin';
import { fillText, type Html, html } from '@ostiary/core/pages';
import { counted, pageLinks } from '../parts.ts';
import { listed, type OperatorContext, parameter } from './visit.ts';

const perPage = 50;

/** Orders in which a list can be sorted, by their name in the URL. The first is the default. */
const orders = {
  name: { by: 'name', descending: false },
  'name-down': { by: 'name', descending: true },
  newest: { by: 'created', descending: true },
  oldest: { by: 'created', descending: false },
} as const satisfies Readonly<Record<string, SortedRequest>>;

/** Order in which a list is sorted. */
export type Order = keyof typeof orders;

/** Formats a count of a list's entries. The count stops at a limit. */
export const countOf = (count: number, { voice }: Pick<OperatorContext, 'voice'>): string =>
  `${counted(count, voice.language)}${count >= countedAtMost ? '+' : ''}`;

/**
 * Shows a list that can be sorted by name or time and paged in both directions. The position in the list is a
 * row and not a number, so that new rows do not shift the pages. The number of the first row is passed along
 * in the URL, and only shown.
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
  const [after, before] = [parameter(visit, 'after'), parameter(visit, 'before')];
  const { rows, next, previous } = await listed(() =>
    list.read({
      ...{ ...orders[order], limit: perPage },
      ...(before === null ? after !== null && { after } : { before }),
    }),
  );
  const number = /^[1-9][0-9]{0,8}$/.exec(parameter(visit, 'nr') ?? '')?.[0] ?? '1';
  const first = previous === null ? 1 : Number(number);
  const last = first + rows.length - 1;
  const [from, to] = [counted(first, voice.language), counted(last, voice.language)];
  const count = list.count === null ? null : countOf(Math.max(list.count, last), visit);
  const range =
    count === null ? `${from}–${to}` : fillText(voice.language, text.range, { first: from, last: to, count });
  const choice = (one: Order): Html => {
    const href = list.urlOf({ sort: sortOf(one) });
    return one === order
      ? html`<a href="${href}" aria-current="true">${text[one]}</a>`
      : html`<a href="${href}">${text[one]}</a>`;
  };
  if (rows.length === 0 && previous === null) return html`<p class="muted">${list.empty}</p>`;
  return html`<div class="order">${choices.length < 2 ? null : html`<nav aria-label="${text.order}">${choices.map(choice)}</nav>`}<p class="small muted">${range}</p></div>
<ul class="rows">${rows.map(list.rowOf)}</ul>
${pageLinks([
  [
    previous === null
      ? null
      : list.urlOf({ sort, before: previous, nr: String(Math.max(1, first - perPage)) }),
    text.previous,
  ],
  [next === null ? null : list.urlOf({ sort, after: next, nr: String(last + 1) }), text.next],
])}`;
}
