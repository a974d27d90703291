import { countedAtMost } from '@ostiary/core/console';
import { fillText, type Html, html } from '@ostiary/core/pages';
import { counted, pageLinks } from './parts.ts';
import type { Voice } from './words.ts';

/** Number of rows on a page of a list that is paged in both directions. */
export const perPage = 50;

/** Formats a count of rows. Counting stops at a limit: a count that reached the limit gets a `+`. */
export const countOf = (count: number, { voice }: { readonly voice: Voice }): string =>
  `${counted(count, voice.language)}${count >= countedAtMost ? '+' : ''}`;

/**
 * Makes the text about which rows of how many are shown, and the links to the pages around them. The URL of a
 * page names a row instead of a row number, so that new rows do not shift the page. The URL also has the
 * number of the first row, but only for the text.
 */
export function aroundPage(
  { query, voice }: { readonly query: URLSearchParams; readonly voice: Voice },
  page: {
    readonly shown: number;
    /** Number of rows of the whole list; `null` if the rows were not counted. */
    readonly count: number | null;
    readonly next: string | null;
    readonly previous: string | null;
    readonly urlOf: (place: { readonly [name: string]: string }) => string;
  },
): { readonly range: Html; readonly links: Html | null } {
  const { language, words } = voice;
  const { next, previous, urlOf } = page;
  const number = /^[1-9][0-9]{0,8}$/.exec(query.get('nr') ?? '')?.[0] ?? '1';
  const first = previous === null ? 1 : Number(number);
  const last = first + page.shown - 1;
  const [from, to] = [counted(first, language), counted(last, language)];
  const count = page.count === null ? null : countOf(Math.max(page.count, last), { voice });
  const range =
    count === null
      ? `${from}–${to}`
      : fillText(language, words.lists.range, { first: from, last: to, count });
  const before = String(Math.max(1, first - perPage));
  return {
    range: html`<p class="small muted">${range}</p>`,
    links: pageLinks([
      [previous === null ? null : urlOf({ before: previous, nr: before }), words.lists.previous],
      [next === null ? null : urlOf({ after: next, nr: String(last + 1) }), words.lists.next],
    ]),
  };
}
