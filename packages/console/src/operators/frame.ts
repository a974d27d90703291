import type { ConsoleAnswer, OperatorRight } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { answerPage, noticeOf } from '../frame.ts';
import { type Crumb, crumbsTo, modeSwitch, placeOf, searchForm, shell } from '../shell.ts';
import { countOf } from '../two-way.ts';
import { modeOf, type OperatorContext, type OperatorNotice } from './visit.ts';

/** Sections of the operators' pages by group, in the order of the navigation. */
const groups = [
  { title: null, sections: ['overview', 'partners', 'clients', 'allKeys', 'users'] },
  { title: 'traffic', sections: ['failing', 'endpoints', 'events', 'requests', 'allPayments'] },
  { title: 'operations', sections: ['audit', 'signingKeys', 'upkeep', 'staff'] },
] as const;

type Section = (typeof groups)[number]['sections'][number];

/** Rights that operators need to see a section at all. */
const sectionRights: { readonly [Name in Section]?: OperatorRight } = {
  allPayments: 'payments',
  users: 'users',
  upkeep: 'service',
  staff: 'service',
};

/** Returns the title of a section of the operators' pages. */
function sectionTitle(section: Section, { voice, words }: OperatorContext): string {
  if (section === 'allKeys') return words.keys.title;
  if (section === 'allPayments') return voice.words.payments.title;
  if (section === 'endpoints' || section === 'events' || section === 'requests')
    return voice.words[section].title;
  return words.nav[section];
}

/** Checks whether an operator may see the pages of a section. */
function isOpen(section: Section, may: readonly OperatorRight[]): boolean {
  const right = sectionRights[section];
  return right === undefined || may.includes(right);
}

/** Names of the messages that are shown as warnings. */
const badNotices: ReadonlySet<OperatorNotice> = new Set<OperatorNotice>(['nothing', 'unopened']);

/** Content of an operators' page. */
export interface OperatorFrame {
  readonly title: string;
  readonly body: Html;
  /** Section that the page belongs to; `null` for a page that belongs to none. */
  readonly section: Section | null;
  /** True if the page is the first page of its section. */
  readonly isFirst?: boolean;
  /** Links to the pages between the section's first page and this page, outermost first. */
  readonly crumbs?: readonly Crumb[];
  /** True if the page can show live or test data: it then has a switch between them. */
  readonly hasModes?: boolean;
  /** Layout of the body: one narrow column, or two if there is room. */
  readonly layout?: 'one' | 'aside-first' | 'main-first' | 'halves';
  /** Text in the search box. @defaultValue `""` */
  readonly typed?: string;
  /** Message about an action that was refused, for the top of the page. */
  readonly refused?: Html | null;
}

/**
 * Makes the form with which the operator signs out at the application; returns `null` if the application
 * offers no such form.
 */
function signOutForm({ signOut, voice }: OperatorContext): Html | null {
  if (signOut === null) return null;
  const fields = Object.entries(signOut.fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${signOut.action}">${fields}<button class="compact">${voice.words.signOut}</button></form>`;
}

/** Makes an operators' page: its content with navigation, search box and title. */
export function framed(visit: OperatorContext, view: OperatorFrame): ConsoleAnswer {
  const { title, body, section, isFirst = false, crumbs = [], hasModes = false } = view;
  const { layout = 'main-first', typed = '', refused = null } = view;
  const { backend, voice, words, urls, operator, notice } = visit;
  const { theme } = backend;
  const mode = modeOf(visit);
  const navigation = groups.map((group) => ({
    title: group.title === null ? null : words.nav[group.title],
    links: group.sections
      .filter((name) => isOpen(name, visit.may) && (name !== 'staff' || visit.staff !== null))
      .map((name) => ({
        href: urls[name](),
        words: sectionTitle(name, visit),
        place: placeOf(name === section, isFirst),
        count: name === 'partners' || name === 'clients' ? countOf(visit.counts[name], visit) : null,
      })),
  }));
  const said = notice === null ? null : noticeOf(words.notices[notice], badNotices.has(notice));
  const main = shell({
    ...{ theme, title, layout, exit: null, about: null },
    words: voice.words.shell,
    home: urls.overview(),
    groups: navigation,
    bar: html`${searchForm({
      ...{
        action: urls.search(),
        label: voice.words.search.label,
        hint: voice.words.search.hintOperators,
        typed,
      },
      hidden: mode === 'test' ? html`<input type="hidden" name="mode" value="test">` : null,
    })}${hasModes ? modeSwitch(mode, { live: '?mode=live', test: '?mode=test' }, voice.words.shell) : null}`,
    crumbs: isFirst ? [] : [...crumbsTo(navigation.flatMap(({ links }) => links)), ...crumbs],
    who: html`<p><span class="small muted">${words.you}</span> <strong>${visit.accountUrl === null ? nameOf(operator) : html`<a href="${visit.accountUrl}">${nameOf(operator)}</a>`}</strong></p>${signOutForm(visit)}`,
    body: html`${refused ?? said}
${body}`,
  });
  return answerPage(visit, { title, body: main, status: refused === null ? 200 : 400, frame: 'none' });
}
