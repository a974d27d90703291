import { countedAtMost } from '@ostiary/core/console';
import { fillText, type Html, html } from '@ostiary/core/pages';
import { type Order, orderOf } from './list-order.ts';
import { counted, pageLinks } from './parts.ts';
import type { Voice } from './words.ts';

/** Number of rows on a page of most lists that are paged in both directions. */
export const perPage = 50;

/** Formats a count of rows. Counting stops at a limit: a count that reached the limit gets a `+`. */
export const countOf = (count: number, { voice }: { readonly voice: Voice }): string =>
  `${counted(count, voice.language)}${count >= countedAtMost ? '+' : ''}`;

/**
 * Makes the line above a page of a list, with the choice of its order and the text about which rows of how
 * many are shown, and the links to the pages around it. The URL of a page names a row instead of a row
 * number, so that new rows do not shift the page. The URL also has the number of the first row, but only for
 * the text.
 */
export function aroundPage(
  { query, voice }: { readonly query: URLSearchParams; readonly voice: Voice },
  page: {
    readonly shown: number;
    /** Most rows of a page. @defaultValue {@link perPage} */
    readonly size?: number;
    /** Number of rows of the whole list; `null` if the rows were not counted. */
    readonly count: number | null;
    readonly next: string | null;
    readonly previous: string | null;
    /** Orders that the visitor can choose, the default first. */
    readonly orders: readonly [Order, ...Order[]];
    readonly urlOf: (place: { readonly [name: string]: string | null }) => string;
  },
): { readonly head: Html; readonly links: Html | null } {
  const { language, words } = voice;
  const { next, previous, size = perPage } = page;
  const [usual, ...others] = page.orders;
  const order = orderOf(query, page.orders);
  const urlIn = (one: Order, place: { readonly [name: string]: string } = {}): string =>
    page.urlOf({ sort: one === usual ? null : one, ...place });
  const choice = (one: Order): Html =>
    one === order
      ? html`<a href="${urlIn(one)}" aria-current="true">${words.lists[one]}</a>`
      : html`<a href="${urlIn(one)}">${words.lists[one]}</a>`;
  const choices =
    others.length === 0
      ? null
      : html`<nav aria-label="${words.lists.order}">${page.orders.map(choice)}</nav>`;
  const number = /^[1-9][0-9]{0,8}$/.exec(query.get('nr') ?? '')?.[0] ?? '1';
  const first = previous === null ? 1 : Number(number);
  const last = first + page.shown - 1;
  const [from, to] = [counted(first, language), counted(last, language)];
  const count = page.count === null ? null : countOf(Math.max(page.count, last), { voice });
  const range =
    count === null
      ? `${from}–${to}`
      : fillText(language, words.lists.range, { first: from, last: to, count });
  const before = String(Math.max(1, first - size));
  return {
    head: html`<div class="order">${choices}<p class="small muted">${range}</p></div>`,
    links: pageLinks([
      [previous === null ? null : urlIn(order, { before: previous, nr: before }), words.lists.previous],
      [next === null ? null : urlIn(order, { after: next, nr: String(last + 1) }), words.lists.next],
    ]),
  };
}
