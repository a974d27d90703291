import { type Html, html, nameOf } from '../html.ts';
import { icons } from '../icons.ts';
import { type PageContext, page } from '../layout.ts';
import { entityTag, liveScript, liveScriptHash } from './live.ts';
import { consoleStyle, consoleStyleHash } from './style.ts';
import { consoleWords } from './text.ts';
import type { ConsoleWords, Notice } from './words.ts';

/** What every page of a signed-in partner is given. Addresses are absolute. */
export interface ConsoleContext extends PageContext {
  /** The partner's slug. */
  readonly partner: string;
  /** Proves that a form came from a page of this session. */
  readonly csrfToken: string;
  readonly homeUrl: string;
  /** Where the script goes when the session has ended. */
  readonly exitUrl: string;
  readonly endpointsUrl: string;
  readonly triggerUrl: string;
  readonly signOutAction: string;
  /** The address of this page. */
  readonly url: string;
  readonly notice: Notice | null;
}

/** A finished page of the console. */
export interface ConsolePage {
  readonly html: string;
  /** What its Content-Security-Policy must name. */
  readonly sources: { readonly styles: readonly string[]; readonly script: string };
  /** The state of what changes by itself, or `null` where nothing does. */
  readonly etag: string | null;
}

/** Names of notices about something that could not be done. */
const badNotices: ReadonlySet<Notice> = new Set<Notice>(['ended', 'no_match', 'disabled', 'gone']);

/** Says what has just happened. */
export function noticeRow(notice: Notice | null, words: ConsoleWords): Html | null {
  if (notice === null) return null;
  const bad = badNotices.has(notice);
  return html`<div class="notice across ${bad ? 'bad' : ''}" role="status">${bad ? icons.warning : icons.check}<p>${words.notices[notice]}</p></div>`;
}

/** Says why something was not done. */
export function problemRow(title: Html | string, details: readonly string[] = []): Html {
  return html`<div class="notice bad across" role="alert">${icons.warning}<div><p>${title}</p>${details.map((detail) => html`<p>${nameOf(detail)}</p>`)}</div></div>`;
}

/** The field that carries the proof of a form. */
export function csrfField({ csrfToken }: Pick<ConsoleContext, 'csrfToken'>): Html {
  return html`<input type="hidden" name="csrf" value="${csrfToken}">`;
}

/** Puts the parts of a signed-in partner's page together. */
export function consolePage(
  view: ConsoleContext & {
    /** In the heading. */
    readonly title: string;
    /** The heading, where it is more than the title. */
    readonly heading?: Html;
    readonly body: Html;
    /** The layout of the body: one narrow column, or two where there is room. */
    readonly layout: 'one' | 'aside-first' | 'main-first';
    /** What changes by itself, and the words for those who hear it change. */
    readonly live: { readonly regions: readonly Html[]; readonly said: string } | null;
  },
): ConsolePage {
  const { theme, language, live } = view;
  const words = consoleWords[language];
  const etag = live === null ? null : entityTag([...live.regions, html`${live.said}`]);
  const home = view.url === view.homeUrl;
  const bar = html`<div class="bar"><div>
${home ? null : html`<a class="crumb" href="${view.homeUrl}">${words.back}</a>`}
<h1>${view.heading ?? view.title}</h1>
<strong>${nameOf(view.partner)}</strong> <span class="badge">${words.testMode}</span>
${live === null ? null : html`<p class="pulse" id="pulse" hidden><span class="dot"></span><span class="on">${words.live}</span><span class="off">${words.lost}</span></p><noscript><a href="${view.url}">${words.reload}</a></noscript>`}
</div>
<form method="post" action="${view.signOutAction}">${csrfField(view)}<button class="compact">${words.signOut}</button></form>
</div>`;
  const inner = html`${bar}
${noticeRow(view.notice, words)}
${view.body}
${live === null ? null : html`<p class="hidden" id="said" role="status"></p>`}`;
  const layout = `console ${view.layout}`;
  const body =
    live === null || etag === null
      ? html`<main class="${layout}">${inner}</main>`
      : html`<main class="${layout}" data-etag="${etag}" data-said="${live.said}" data-exit="${view.exitUrl}">${inner}</main>
${liveScript}`;
  return finishedPage({ theme, language, title: view.title, body }, etag);
}

/** A page of the console around any body. */
export function finishedPage(
  view: PageContext & { readonly title: string; readonly body: Html },
  etag: string | null = null,
): ConsolePage {
  const { html: document, styleHash } = page({ ...view, head: consoleStyle });
  return {
    html: document,
    sources: { styles: [styleHash, consoleStyleHash], script: liveScriptHash },
    etag,
  };
}
