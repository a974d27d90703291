import { type PageLanguage, userDayIn } from '../languages/page-language.ts';
import { fill } from './fill.ts';
import { type Html, html, nameOf } from './html.ts';
import { languageLinks } from './language-links.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { accountRow, clientMark, icons, scopeList } from './parts.ts';

export interface ConnectedApp {
  readonly clientName: string;
  readonly logoUrl: string | null;
  readonly scopes: readonly string[];
  readonly grantedAt: Date;
  /** Time of the user's last approval of the app's access; equal to `grantedAt` after a single approval. */
  readonly updatedAt: Date;
  /** Time of the user's last sign-in with the app; `null` if none was recorded. */
  readonly lastUsedAt: Date | null;
  /** URL to which the form that removes the app is posted, with its form token as `csrf`. */
  readonly revokeAction: string;
  readonly csrfToken: string;
}

/** Result of the form that the user sent on the page of connected apps. */
export type AppsNotice =
  | {
      readonly kind: 'removed';
      readonly clientName: string;
      /** URL to which the form that undoes a removal is posted. */
      readonly undoAction: string;
      readonly csrfToken: string;
    }
  | { readonly kind: 'restored'; readonly clientName: string }
  | { readonly kind: 'tooLate' };

export interface AppsView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  /** All languages of the service's pages, for links to this page in another language. */
  readonly languages: readonly PageLanguage[];
  readonly pageUrl: string;
  /** URL of the service's own start page. */
  readonly homeUrl: string;
  readonly apps: readonly ConnectedApp[];
  readonly userName: string | null;
  /** Time zone in which the page shows dates; `null` if the user's time zone is not known. */
  readonly timeZone: string | null;
  readonly notice: AppsNotice | null;
}

/** Renders when a connected app was allowed, changed and last used. */
function dates({ grantedAt, updatedAt, lastUsedAt }: ConnectedApp, { language, timeZone }: AppsView): Html {
  const words = language.texts.apps;
  const day = (time: Date): string => userDayIn(language, time, timeZone);
  const line = (text: string, time: Date): Html => {
    const date = html`<time datetime="${time.toISOString()}">${day(time)}</time>`;
    return html`<span>${fill(language.tag, text, { date })}</span>`;
  };
  const isChanged = day(grantedAt) !== day(updatedAt);
  return html`${line(words.since, grantedAt)}${isChanged ? html` ${line(words.changed, updatedAt)}` : null}${lastUsedAt === null ? null : html` ${line(words.used, lastUsedAt)}`}`;
}

function noticeBox(notice: AppsNotice, { language }: AppsView): Html {
  const words = language.texts.apps;
  if (notice.kind === 'tooLate')
    return html`<div class="notice bad" role="status">${icons.warning}<p>${words.tooLate}</p></div>`;
  const client = nameOf(notice.clientName);
  if (notice.kind === 'restored')
    return html`<div class="notice" role="status">${icons.check}<p>${fill(language.tag, words.restored, { client })}</p></div>`;
  return html`<div class="notice" role="status">${icons.check}<div><p>${fill(language.tag, words.removed, { client })}</p>
<form method="post" action="${notice.undoAction}"><input type="hidden" name="csrf" value="${notice.csrfToken}"><button class="compact">${words.undo} <span class="hidden">${fill(language.tag, words.undoOf, { client })}</span></button></form></div></div>`;
}

function appItem(app: ConnectedApp, view: AppsView): Html {
  const { language } = view;
  const words = language.texts.apps;
  const client = nameOf(app.clientName);
  return html`<li class="app">
<header>${clientMark(app.clientName, app.logoUrl)}<div><h2>${client}</h2><p class="since small muted">${dates(app, view)}</p></div></header>
${scopeList(
  app.scopes.map((name) => ({ name, marked: false })),
  language,
)}
<form method="post" action="${app.revokeAction}">
<input type="hidden" name="csrf" value="${app.csrfToken}">
<button class="compact">${words.remove} <span class="hidden">${fill(language.tag, words.removeOf, { client })}</span></button>
</form>
</li>`;
}

export function appsPage(view: AppsView): Page {
  const { theme, language, apps } = view;
  const words = language.texts.apps;
  const service = nameOf(theme.name);
  const list =
    apps.length === 0
      ? html`<div class="empty"><span class="disc">${icons.plug}</span><h2>${words.emptyTitle}</h2><p class="muted">${fill(language.tag, words.empty, { service })}</p></div>`
      : html`<ul class="apps">${apps.map((app) => appItem(app, view))}</ul>`;
  const body = html`<main class="card wide">
<div class="lead"><h1>${words.title}</h1>${apps.length === 0 ? null : html`<p class="muted">${fill(language.tag, words.intro, { service })}</p>`}</div>
${view.notice === null ? null : noticeBox(view.notice, view)}
${accountRow(view.userName, language, null)}
${list}
<p class="small"><a href="${view.homeUrl}">${fill(language.tag, words.back, { service })}</a></p>
</main>
${languageLinks(view.languages, language, view.pageUrl)}`;
  return page({ theme, language: language.tag, title: words.title, body });
}
