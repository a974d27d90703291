import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, icons, nameOf, page } from '@ostiary/core/pages';
import { sourceOf } from './assets.ts';
import { roots } from './paths.ts';
import { type Crumb, crumbsTo, modeSwitch, placeOf, searchForm, shell } from './shell.ts';
import type { PageBase, PageContext, Visit } from './visit.ts';
import type { Notice } from './words.ts';

/** Names of the messages that are shown as warnings: the action failed, or the session has ended. */
const badNotices: ReadonlySet<Notice> = new Set<Notice>([
  'ended',
  'no_match',
  'disabled',
  'gone',
  'kyc_same',
]);

/** Makes a message about an action that was done or that failed. */
export function noticeOf(text: Html | string, isBad = false): Html {
  return html`<div class="notice across ${isBad ? 'bad' : ''}" role="status">${isBad ? icons.warning : icons.check}<p>${text}</p></div>`;
}

/** Shows the message about the last action, if the URL names one. */
export const noticeRow = ({ notice, voice }: PageContext): Html | null =>
  notice === null ? null : noticeOf(voice.words.notices[notice], badNotices.has(notice));

/** Shows why an action was refused. */
export function problemRow(title: Html | string, details: readonly (Html | string)[] = []): Html {
  return html`<div class="notice bad across" role="alert">${icons.warning}<div><p>${title}</p>${details.map((detail) => html`<p>${detail}</p>`)}</div></div>`;
}

/** Makes the hidden field with the form's CSRF token. */
export function csrfField({ csrf }: PageBase): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** Makes the response that contains a finished page. */
export function answerPage(
  { backend, voice, script, style }: PageBase,
  {
    title,
    body,
    status = 200,
    frame = 'brand',
    isLive = false,
  }: {
    readonly title: string;
    readonly body: Html;
    readonly status?: number;
    /** Frame around the body of the page. With `'none'`, the body fills the window. */
    readonly frame?: 'brand' | 'none';
    /** True if the page updates itself, so that its script may send requests. */
    readonly isLive?: boolean;
  },
): ConsoleAnswer {
  const { html: text } = page({
    theme: backend.theme,
    language: voice.language,
    ...{ title, body, frame, styleUrl: style, head: html`<script src="${script}" defer></script>` },
  });
  return {
    status,
    body: text,
    sources: `script-src ${sourceOf(script)};${isLive ? " connect-src 'self';" : ''} style-src ${sourceOf(style)}`,
  };
}

/** Sections of the console, in the order of the navigation. */
const sections = ['events', 'payments', 'requests', 'tools'] as const;

type Section = (typeof sections)[number];

/** Content of a page for a signed-in partner. */
export interface FramedPage {
  readonly title: string;
  readonly body: Html;
  /** Layout of the body: one narrow column, or two if there is room. */
  readonly layout: 'one' | 'aside-first' | 'main-first' | 'halves';
  /**
   * Text that screen readers announce when the page updates itself. A page without this text does not update
   * itself.
   */
  readonly said?: string;
  /** Section of the console that the page belongs to. @defaultValue `"events"` */
  readonly section?: Section;
  /** True if the page is the first page of its section. */
  readonly isFirst?: boolean;
  /** Links to the pages between the section's first page and this page, outermost first. */
  readonly crumbs?: readonly Crumb[];
  /** Text in the search box. @defaultValue `""` */
  readonly typed?: string;
  readonly status?: number;
}

/** Makes the links to the sections of the console. */
function sectionLinks({ backend, mode, urlOf, voice }: Visit, here: Section, isFirst: boolean) {
  const { words } = voice;
  const links = {
    events: { href: urlOf('home'), words: words.back },
    payments: { href: urlOf('payments'), words: words.payments.title },
    requests: { href: urlOf('requests'), words: words.requests.title },
    tools: { href: urlOf('tools'), words: words.tools.title },
  } as const;
  return sections
    .filter((name) => name !== 'requests' || backend.logsRequests || here === 'requests')
    .filter((name) => name !== 'tools' || mode === 'test')
    .map((name) => ({ ...links[name], place: placeOf(name === here, isFirst) }));
}

/**
 * Makes a page for a signed-in partner. If the page has `said`, its regions with `id` and `data-live` are
 * updated while the page is open in a browser.
 */
export function answerFramed(visit: Visit, view: FramedPage): ConsoleAnswer {
  const { title, body, layout, said, section = 'events', isFirst = false, crumbs = [] } = view;
  const { typed = '', status = 200 } = view;
  const { backend, mayManage, mode, partner, urlOf, voice } = visit;
  const { words } = voice;
  const otherUrls = { live: backend.url(roots.live), test: backend.url(roots.test) };
  const liveMark = mayManage ? words.portal.markManage : words.portal.markView;
  const links = sectionLinks(visit, section, isFirst);
  const pulse = html`<p class="pulse" id="pulse" hidden><span class="dot"></span><span class="on">${words.live}</span><span class="off">${words.lost}</span></p><noscript><a href="">${words.reload}</a></noscript>`;
  const announcement =
    said === undefined
      ? null
      : html`
<p class="hidden" id="said" role="status" data-live>${said}</p>`;
  const framed = shell({
    theme: backend.theme,
    words: words.shell,
    home: urlOf('home'),
    groups: [{ title: null, links }],
    bar: html`${searchForm({
      ...{ action: urlOf('search'), label: words.search.label, hint: words.search.hintPartner, typed },
    })}${modeSwitch(mode, otherUrls, words.shell)}`,
    mark: mode === 'live' ? liveMark : null,
    crumbs: isFirst ? [] : [...crumbsTo(links), ...crumbs],
    title,
    about: said === undefined ? null : pulse,
    who: html`<p><strong>${nameOf(partner)}</strong> ${mode === 'test' ? html`<span class="badge">${words.testMode}</span>` : html`<span class="badge live">${words.shell.live}</span>`}</p>
<form method="post" action="${urlOf('signOut')}">${csrfField(visit)}<button class="compact">${words.signOut}</button></form>`,
    layout,
    exit: said === undefined ? null : urlOf('home', { notice: 'ended' }),
    body: html`${noticeRow(visit)}
${body}${announcement}`,
  });
  return answerPage(visit, { title, body: framed, status, frame: 'none', isLive: said !== undefined });
}
