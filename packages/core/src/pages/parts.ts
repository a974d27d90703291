import type { PageLanguage } from '../languages/page-language.ts';
import { type Html, html, nameOf, visible } from './html.ts';

const icon = (paths: Html): Html =>
  html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${paths}</svg>`;

/** Icons drawn in the text colour. They are decoration only: the text beside them says everything. */
export const icons = {
  check: icon(html`<path d="m5 10.5 3.2 3.2L15 7"/>`),
  lock: icon(html`<rect x="4.5" y="9" width="11" height="7.5" rx="2"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/>`),
  undo: icon(html`<path d="M7.5 4.5 4 8l3.5 3.5"/><path d="M4 8h7.5a4 4 0 0 1 0 8H8"/>`),
  leave: icon(
    html`<path d="M8.5 5h-3A1.5 1.5 0 0 0 4 6.5v7A1.5 1.5 0 0 0 5.5 15h3"/><path d="m12.5 6.5 3.5 3.5-3.5 3.5"/><path d="M16 10H8.5"/>`,
  ),
  warning: icon(html`<path d="M10 3.5 17.2 16H2.8Z"/><path d="M10 8.5v3.5"/><path d="M10 14.1v.1"/>`),
  plug: icon(html`<path d="M7 3v4M13 3v4M5 7h10v2.5a5 5 0 0 1-10 0ZM10 14.5V17"/>`),
  bell: icon(html`<path d="M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5l1.5 1H4ZM8.5 17h3"/>`),
} as const satisfies { readonly [name: string]: Html };

/** Returns the first letter or digit of a name as a capital letter; a dot if the name has neither. */
export function initialOf(name: string): string {
  // Create the segmenter here, because the first one loads data of ICU, which takes several milliseconds.
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(visible(name.slice(0, 200)))) {
    if (/^[\p{L}\p{N}]/u.test(segment)) return segment.toUpperCase();
  }
  return '•';
}

/**
 * Renders the initial of a name: on a square in the theme's colour for the service, on a neutral square for
 * apps, on a disc in a tint of the theme's colour for users.
 */
export function monogram(name: string, kind: 'service' | 'client' | 'user'): Html {
  return html`<svg class="monogram ${kind}" viewBox="0 0 40 40" aria-hidden="true"><rect x=".5" y=".5" width="39" height="39" rx="${kind === 'user' ? '19.5' : '10.5'}"/><text x="20" y="20" text-anchor="middle" dominant-baseline="central">${initialOf(name)}</text></svg>`;
}

/** Renders the logo of an app, or the initial of its name if it has no logo. */
export const clientMark = (name: string, logo: string | null): Html =>
  logo === null ? monogram(name, 'client') : html`<img class="monogram" src="${logo}" alt="">`;

/**
 * Renders the name of the signed-in user, with a link to sign in as someone else. `null` if there is neither
 * a name nor a link.
 */
export function accountRow(
  userName: string | null,
  { texts: words }: PageLanguage,
  switchAccountUrl: string | null,
): Html | null {
  if (userName === null && switchAccountUrl === null) return null;
  return html`<div class="account">
${userName === null ? null : html`${monogram(userName, 'user')}<p class="who"><span>${words.signedInAs}</span> <strong>${nameOf(userName)}</strong></p>`}
${switchAccountUrl === null ? null : html`<a href="${switchAccountUrl}">${words.consent.switchAccount}</a>`}
</div>`;
}

/** A scope in a list of what an app can see. */
export interface ListedScope {
  readonly name: string;
  /** True if the word "new" stands beside the scope's title. */
  readonly marked: boolean;
  /** The user's own data of the scope, shown below its title. @defaultValue none */
  readonly values?: readonly string[];
  /** Content at the end of the row, such as a checkbox. If it is a checkbox, the whole row is its label. */
  readonly aside?: { readonly html: Html; readonly isControl: boolean } | null;
}

/** Renders a list of what an app can see, in plain words. */
export function scopeList(items: readonly ListedScope[], { texts }: PageLanguage): Html {
  const item = ({ name, marked, values = [], aside = null }: ListedScope): Html => {
    const { title, detail } = texts.scopes[name] ?? { title: name, detail: '' };
    const badge = html` <span class="badge">${texts.consent.newBadge}</span>`;
    const own =
      values.length === 0
        ? null
        : html` <span class="value">${values.map((value, at) => html`${at === 0 ? null : ' · '}${nameOf(value)}`)}</span>`;
    const row = html`<span class="mark">${icons.check}</span><span class="what"><span class="title">${title}${marked ? badge : null}</span>${own} <span class="detail">${detail}</span></span>${aside === null ? null : aside.html}`;
    return html`<li>${aside?.isControl ? html`<label>${row}</label>` : row}</li>`;
  };
  return html`<ul class="scopes">${items.map(item)}</ul>`;
}
