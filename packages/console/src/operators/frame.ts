import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf, page } from '@ostiary/core/pages';
import { noticeOf, pageBar } from '../frame.ts';
import { consoleStyle, consoleStyleHash } from '../style.ts';
import type { OperatorContext, OperatorNotice } from './visit.ts';

/** Sections of the operators' pages, in their order. */
type Section = 'overview' | 'partners' | 'clients' | 'audit' | 'signingKeys' | 'upkeep';

const sections: readonly Section[] = ['overview', 'partners', 'clients', 'audit', 'signingKeys', 'upkeep'];

/** Names of notices about actions that failed. */
const badNotices: ReadonlySet<OperatorNotice> = new Set<OperatorNotice>(['nothing', 'unopened']);

/** Content of an operators' page. */
export interface OperatorFrame {
  readonly title: string;
  readonly body: Html;
  readonly section: Section;
  /** True if the page is the first one of its section. */
  readonly isFirst?: boolean;
  /** Layout of the body: one narrow column, or two if there is room. */
  readonly layout?: 'one' | 'aside-first' | 'main-first';
  /** Message about an action that was refused. */
  readonly refused?: Html | null;
}

/** Makes an operators' page with its frame. */
export function framed(
  visit: OperatorContext,
  { title, body, section, isFirst = false, layout = 'main-first', refused = null }: OperatorFrame,
): ConsoleAnswer {
  const { backend, voice, words, urls, operator, notice } = visit;
  const bar = pageBar({
    label: words.title,
    parts: sections.map((name) => ({
      href: urls[name](),
      words: words.nav[name],
      isHere: name === section,
    })),
    ...{ isFirst, title },
    about: html`<span class="small muted">${words.you} <strong>${nameOf(operator)}</strong></span>`,
  });
  const said = notice === null ? null : noticeOf(words.notices[notice], badNotices.has(notice));
  const main = html`<main class="console ${layout}">${bar}
${refused ?? said}
${body}</main>`;
  const { theme } = backend;
  const document = page({ theme, language: voice.language, title, body: main, head: consoleStyle });
  return {
    status: refused === null ? 200 : 400,
    body: document.html,
    sources: `style-src ${document.styleHash} ${consoleStyleHash}`,
  };
}
