import { type ConsoleAnswer, type Html, html, icons, nameOf, page } from '@ostiary/core/console';
import { problemRow } from '../frame.ts';
import { consoleStyle, consoleStyleHash } from '../style.ts';
import type { OperatorContext, OperatorNotice, Refusal } from './visit.ts';

/** The parts of the pages, in their order. */
type Section = 'overview' | 'partners' | 'clients' | 'audit' | 'signingKeys' | 'upkeep';

const sections: readonly Section[] = ['overview', 'partners', 'clients', 'audit', 'signingKeys', 'upkeep'];

/** Names of notices about something that could not be done. */
const badNotices: ReadonlySet<OperatorNotice> = new Set<OperatorNotice>(['nothing', 'unopened']);

function noticeRow({ notice, words }: OperatorContext): Html | null {
  if (notice === null) return null;
  const bad = badNotices.has(notice);
  return html`<div class="notice across ${bad ? 'bad' : ''}" role="status">${bad ? icons.warning : icons.check}<p>${words.notices[notice]}</p></div>`;
}

/** A page for operators. */
export interface OperatorFrame {
  readonly title: string;
  readonly body: Html;
  readonly section: Section;
  /** The first page of its part. */
  readonly isFirst?: boolean;
  /** The layout of the body: one narrow column, or two where there is room. */
  readonly layout?: 'one' | 'aside-first' | 'main-first';
  /** What was refused. */
  readonly refusal?: Refusal | null;
}

/** Puts a page together. */
export function framed(
  visit: OperatorContext,
  { title, body, section, isFirst = false, layout = 'main-first', refusal = null }: OperatorFrame,
): ConsoleAnswer {
  const { desk, voice, words, urls, operator } = visit;
  const link = (name: Section): Html =>
    name === section
      ? html`<a href="${urls[name]()}" aria-current="${isFirst ? 'page' : 'true'}">${words.nav[name]}</a>`
      : html`<a href="${urls[name]()}">${words.nav[name]}</a>`;
  const main = html`<main class="console ${layout}"><div class="bar"><div>
<nav class="parts" aria-label="${words.title}">${sections.map(link)}</nav>
<h1>${nameOf(title)}</h1>
<span class="small muted">${words.you} <strong>${nameOf(operator)}</strong></span>
</div></div>
${refusal === null ? noticeRow(visit) : problemRow(words.refused, [refusal.message])}
${body}</main>`;
  const { theme } = desk;
  const document = page({ theme, language: voice.language, title, body: main, head: consoleStyle });
  return {
    status: refusal === null ? 200 : 400,
    body: document.html,
    sources: `style-src ${document.styleHash} ${consoleStyleHash}`,
  };
}
