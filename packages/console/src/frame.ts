import { type ConsoleAnswer, type Html, html, icons, nameOf, page } from '@ostiary/core/console';
import { consoleStyle, consoleStyleHash } from './style.ts';
import type { PageContext, Visit } from './visit.ts';
import type { Notice } from './words/words.ts';

/** Names of notices about something that could not be done. */
const badNotices: ReadonlySet<Notice> = new Set<Notice>([
  'ended',
  'no_match',
  'disabled',
  'gone',
  'kyc_same',
]);

/** Says what has just happened. */
export function noticeRow({ notice, voice }: PageContext): Html | null {
  if (notice === null) return null;
  const bad = badNotices.has(notice);
  return html`<div class="notice across ${bad ? 'bad' : ''}" role="status">${bad ? icons.warning : icons.check}<p>${voice.words.notices[notice]}</p></div>`;
}

/** Says why something was not done. */
export function problemRow(title: Html | string, details: readonly (Html | string)[] = []): Html {
  return html`<div class="notice bad across" role="alert">${icons.warning}<div><p>${title}</p>${details.map((detail) => html`<p>${detail}</p>`)}</div></div>`;
}

/** Says that something was done, with a number or name that no notice has. */
export function doneRow(text: Html | string): Html {
  return html`<div class="notice across" role="status">${icons.check}<p>${text}</p></div>`;
}

/** The field that carries the proof of a form. */
export function csrfField({ csrf }: PageContext): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** Answers a finished page. */
export function answerPage(
  { desk, voice, script }: PageContext,
  { title, body, status = 200 }: { readonly title: string; readonly body: Html; readonly status?: number },
): ConsoleAnswer {
  const head = html`${consoleStyle}<script src="${script}" defer></script>`;
  const { html: text, styleHash } = page({ theme: desk.theme, language: voice.language, title, body, head });
  return {
    status,
    body: text,
    sources: `script-src ${new URL(script).origin}${new URL(script).pathname}; connect-src 'self'; style-src ${styleHash} ${consoleStyleHash}`,
  };
}

/** A signed-in partner's page. */
export interface FramedPage {
  readonly title: string;
  readonly body: Html;
  /** The layout of the body: one narrow column, or two where there is room. */
  readonly layout: 'one' | 'aside-first' | 'main-first' | 'halves';
  /** Where the page keeps itself up to date: what is said to those who hear it change. */
  readonly said?: string;
  /** The part of the console that it belongs to. @defaultValue `"events"` */
  readonly section?: 'events' | 'requests' | 'tools';
  /** The first page of its part. */
  readonly isFirst?: boolean;
  readonly status?: number;
}

/** Puts the parts of a signed-in partner's page together; what changes by itself are elements with `id` and `data-live`. */
export function answerFramed(
  visit: Visit,
  { title, body, layout, said, section = 'events', isFirst = false, status = 200 }: FramedPage,
): ConsoleAnswer {
  const { urlOf, voice } = visit;
  const { words } = voice;
  const pulse = html`<p class="pulse" id="pulse" hidden><span class="dot"></span><span class="on">${words.live}</span><span class="off">${words.lost}</span></p><noscript><a href="">${words.reload}</a></noscript>`;
  const part = (name: typeof section, href: string, text: string): Html =>
    name === section
      ? html`<a href="${href}" aria-current="${isFirst ? 'page' : 'true'}">${text}</a>`
      : html`<a href="${href}">${text}</a>`;
  const parts = html`<nav class="parts" aria-label="${words.title}">${part('events', urlOf('home'), words.back)}${visit.desk.logsRequests || section === 'requests' ? part('requests', urlOf('requests'), words.requests.title) : null}${part('tools', urlOf('tools'), words.tools.title)}</nav>`;
  const inner = html`<div class="bar"><div>
${parts}
<h1>${nameOf(title)}</h1>
<strong>${nameOf(visit.partner)}</strong> <span class="badge">${words.testMode}</span>
${said === undefined ? null : pulse}
</div>
<form method="post" action="${urlOf('signOut')}">${csrfField(visit)}<button class="compact">${words.signOut}</button></form>
</div>
${noticeRow(visit)}
${body}`;
  const main =
    said === undefined
      ? html`<main class="console ${layout}">${inner}</main>`
      : html`<main class="console ${layout}" data-exit="${urlOf('home', { notice: 'ended' })}">${inner}
<p class="hidden" id="said" role="status" data-live>${said}</p></main>`;
  return answerPage(visit, { title, body: main, status });
}
