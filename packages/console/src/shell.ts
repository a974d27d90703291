import { brand, type Html, html, nameOf, type PageTheme } from '@ostiary/core/pages';
import type { Words } from './words.ts';

/** A link in the navigation of a page. */
export interface NavLink {
  readonly href: string;
  readonly words: string;
  /**
   * `page` if the link leads to the current page, `section` if it leads to the section of the current page,
   * otherwise `null`.
   */
  readonly place: 'page' | 'section' | null;
  /** Number that is shown beside the link's words; `null` shows nothing. */
  readonly count?: string | null;
}

/** Links of the navigation that belong together, with or without a title. */
interface NavGroup {
  readonly title: string | null;
  readonly links: readonly NavLink[];
}

/** Link to a page above the current one (breadcrumb). */
export type Crumb = readonly [href: string, words: string];

/** Returns the relation of a navigation link to the current page; see {@link NavLink}. */
export const placeOf = (isHere: boolean, isFirst: boolean): NavLink['place'] =>
  isHere ? (isFirst ? 'page' : 'section') : null;

/** Returns the breadcrumb that leads to the section of the current page. */
export const crumbsTo = (links: readonly NavLink[]): readonly Crumb[] =>
  links.flatMap(({ href, words, place }) => (place === null ? [] : [[href, words] as const]));

/** Parts of a page that surround its content. */
export interface Shell {
  readonly theme: PageTheme;
  readonly words: Words['shell'];
  /** URL to which the name of the service links. */
  readonly home: string;
  readonly groups: readonly NavGroup[];
  /** Content of the bar above the page: search, and the switch between live and test data. */
  readonly bar: Html | null;
  /** Sentence at the top of a page about the page's data; `null` for no sentence. */
  readonly mark?: string | null;
  /** Links to the pages above this one, outermost first; empty on the first page of a section. */
  readonly crumbs: readonly Crumb[];
  readonly title: string;
  /** Content directly below the title of the page. */
  readonly about: Html | null;
  /** Name of the person who is signed in, with a link or form to sign out. */
  readonly who: Html;
  readonly layout: 'one' | 'aside-first' | 'main-first' | 'halves';
  /** URL to which a page that updates itself goes when the session ends; `null` for other pages. */
  readonly exit: string | null;
  /** Content of the page. */
  readonly body: Html;
}

function navigation(groups: readonly NavGroup[], words: Words['shell']): Html {
  const link = ({ href, words: text, place, count = null }: NavLink): Html => {
    const beside = count === null ? null : html` <span class="count">${count}</span>`;
    return place === null
      ? html`<li><a href="${href}"><span>${text}</span>${beside}</a></li>`
      : html`<li><a href="${href}" aria-current="${place === 'page' ? 'page' : 'true'}"><span>${text}</span>${beside}</a></li>`;
  };
  const group = ({ title, links }: NavGroup, index: number): Html =>
    title === null
      ? html`<ul>${links.map(link)}</ul>`
      : html`<p id="nav-${String(index)}">${title}</p><ul aria-labelledby="nav-${String(index)}">${links.map(link)}</ul>`;
  return html`<nav class="sections" aria-label="${words.sections}">${groups.filter(({ links }) => links.length > 0).map(group)}</nav>`;
}

function breadcrumb(crumbs: readonly Crumb[], words: Words['shell']): Html | null {
  if (crumbs.length === 0) return null;
  const item = ([href, text]: Crumb, index: number): Html =>
    html`<li>${index === 0 ? null : html`<span aria-hidden="true">/</span>`}<a href="${href}">${nameOf(text)}</a></li>`;
  return html`<nav class="crumbs" aria-label="${words.breadcrumb}"><ol>${crumbs.map(item)}</ol></nav>`;
}

const glass = html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5"/><path d="m13 13 4 4"/></svg>`;

/** Makes the search box of a page. The page's script can move the focus to it. */
export function searchForm({
  action,
  label,
  hint,
  typed = '',
  hidden = null,
}: {
  readonly action: string;
  readonly label: string;
  /** Examples of what can be typed into the search box. */
  readonly hint: string;
  readonly typed?: string;
  readonly hidden?: Html | null;
}): Html {
  return html`<form class="search" role="search" method="get" action="${action}">${hidden}<label class="hidden" for="search">${label}</label><input id="search" name="q" type="search" value="${typed}" placeholder="${hint}" maxlength="200" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-keyshortcuts="/ Control+K" data-search><kbd aria-hidden="true">Ctrl K</kbd><button class="compact">${glass}<span class="hidden">${label}</span></button></form>`;
}

/** Makes the two links with which a visitor switches between live and test data. */
export function modeSwitch(
  mode: 'live' | 'test',
  urls: { readonly [one in 'live' | 'test']: string },
  words: Words['shell'],
): Html {
  const choice = (one: 'live' | 'test'): Html =>
    one === mode
      ? html`<a href="${urls[one]}" aria-current="true">${words[one]}</a>`
      : html`<a href="${urls[one]}">${words[one]}</a>`;
  return html`<nav class="modes" aria-label="${words.mode}">${choice('live')}${choice('test')}</nav>`;
}

/**
 * Makes the body of a page: navigation at the side (a bar above the content on a phone), the content, and the
 * person who is signed in. Works without a script.
 */
export function shell(view: Shell): Html {
  const {
    theme,
    words,
    home,
    groups,
    bar,
    mark = null,
    crumbs,
    title,
    about,
    who,
    layout,
    exit,
    body,
  } = view;
  const content = html`<div class="bar">${breadcrumb(crumbs, words)}<h1>${nameOf(title)}</h1>${about}</div>
${body}</main>`;
  return html`<a class="skip" href="#content">${words.skip}</a>
<div class="shell">
<header class="side"><div><a class="brand" href="${home}">${brand(theme)}</a>
${navigation(groups, words)}</div></header>
<div class="page">${mark === null ? null : html`<aside class="mark" aria-label="${words.mode}">${mark}</aside>`}${bar === null ? null : html`<div class="top">${bar}</div>`}
${
  exit === null
    ? html`<main class="console ${layout}" id="content" tabindex="-1">${content}`
    : html`<main class="console ${layout}" id="content" tabindex="-1" data-exit="${exit}">${content}`
}</div>
<footer class="who">${who}</footer>
</div>`;
}
