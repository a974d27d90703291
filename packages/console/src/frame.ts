import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, icons, nameOf, page } from '@ostiary/core/pages';
import { consoleStyle, consoleStyleHash } from './style.ts';
import type { PageContext, Visit } from './visit.ts';
import type { Notice } from './words.ts';

/** Names of notices about actions that failed. */
const badNotices: ReadonlySet<Notice> = new Set<Notice>([
  'ended',
  'no_match',
  'disabled',
  'gone',
  'kyc_same',
]);

/** Makes a notice about an action that was done or that failed. */
export function noticeOf(text: Html | string, isBad = false): Html {
  return html`<div class="notice across ${isBad ? 'bad' : ''}" role="status">${isBad ? icons.warning : icons.check}<p>${text}</p></div>`;
}

/** Shows the notice about the last action, if the URL has one. */
export const noticeRow = ({ notice, voice }: PageContext): Html | null =>
  notice === null ? null : noticeOf(voice.words.notices[notice], badNotices.has(notice));

/** Shows why an action was refused. */
export function problemRow(title: Html | string, details: readonly (Html | string)[] = []): Html {
  return html`<div class="notice bad across" role="alert">${icons.warning}<div><p>${title}</p>${details.map((detail) => html`<p>${detail}</p>`)}</div></div>`;
}

/** Makes the head of a page: links to the other sections, the title, and the content beside it. */
export function pageBar({
  label,
  parts,
  isFirst,
  title,
  about,
  aside = null,
}: {
  readonly label: string;
  readonly parts: readonly { readonly href: string; readonly words: string; readonly isHere: boolean }[];
  /** True if the page is the first one of its section. */
  readonly isFirst: boolean;
  readonly title: string;
  readonly about: Html;
  readonly aside?: Html | null;
}): Html {
  const link = ({ href, words, isHere }: (typeof parts)[number]): Html =>
    isHere
      ? html`<a href="${href}" aria-current="${isFirst ? 'page' : 'true'}">${words}</a>`
      : html`<a href="${href}">${words}</a>`;
  return html`<div class="bar"><div>
<nav class="parts" aria-label="${label}">${parts.map(link)}</nav>
<h1>${nameOf(title)}</h1>
${about}
</div>
${aside}</div>`;
}

/** Makes the hidden field with the form's CSRF token. */
export function csrfField({ csrf }: PageContext): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** Makes the response with a finished page. */
export function answerPage(
  { backend, voice, script }: PageContext,
  { title, body, status = 200 }: { readonly title: string; readonly body: Html; readonly status?: number },
): ConsoleAnswer {
  const head = html`${consoleStyle}<script src="${script}" defer></script>`;
  const { html: text, styleHash } = page({
    theme: backend.theme,
    language: voice.language,
    title,
    body,
    head,
  });
  return {
    status,
    body: text,
    sources: `script-src ${new URL(script).origin}${new URL(script).pathname}; connect-src 'self'; style-src ${styleHash} ${consoleStyleHash}`,
  };
}

/** Content of a page for a signed-in partner. */
export interface FramedPage {
  readonly title: string;
  readonly body: Html;
  /** Layout of the body: one narrow column, or two if there is room. */
  readonly layout: 'one' | 'aside-first' | 'main-first' | 'halves';
  /** Announcement for screen readers when the page updates itself. */
  readonly said?: string;
  /** Section of the console that the page belongs to. @defaultValue `"events"` */
  readonly section?: 'events' | 'requests' | 'tools';
  /** True if the page is the first one of its section. */
  readonly isFirst?: boolean;
  readonly status?: number;
}

/**
 * Makes a page for a signed-in partner. Regions with `id` and `data-live` are updated while the page is open.
 */
export function answerFramed(
  visit: Visit,
  { title, body, layout, said, section = 'events', isFirst = false, status = 200 }: FramedPage,
): ConsoleAnswer {
  const { urlOf, voice } = visit;
  const { words } = voice;
  const pulse = html`<p class="pulse" id="pulse" hidden><span class="dot"></span><span class="on">${words.live}</span><span class="off">${words.lost}</span></p><noscript><a href="">${words.reload}</a></noscript>`;
  const hasLog = visit.backend.logsRequests || section === 'requests';
  const parts = [
    { name: 'events', href: urlOf('home'), words: words.back },
    ...(hasLog ? [{ name: 'requests', href: urlOf('requests'), words: words.requests.title }] : []),
    { name: 'tools', href: urlOf('tools'), words: words.tools.title },
  ];
  const bar = pageBar({
    label: words.title,
    parts: parts.map((part) => ({ ...part, isHere: part.name === section })),
    ...{ isFirst, title },
    about: html`<strong>${nameOf(visit.partner)}</strong> <span class="badge">${words.testMode}</span>
${said === undefined ? null : pulse}`,
    aside: html`<form method="post" action="${urlOf('signOut')}">${csrfField(visit)}<button class="compact">${words.signOut}</button></form>`,
  });
  const inner = html`${bar}
${noticeRow(visit)}
${body}`;
  const main =
    said === undefined
      ? html`<main class="console ${layout}">${inner}</main>`
      : html`<main class="console ${layout}" data-exit="${urlOf('home', { notice: 'ended' })}">${inner}
<p class="hidden" id="said" role="status" data-live>${said}</p></main>`;
  return answerPage(visit, { title, body: main, status });
}
