import { type PageLanguage, userDayIn } from '../languages/page-language.ts';
import { fill } from './fill.ts';
import { type Html, html, nameOf } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { accountRow, clientMark, icons, scopeList } from './parts.ts';

export interface ConnectedApp {
  readonly clientName: string;
  readonly logoUrl: string | null;
  readonly scopes: readonly string[];
  readonly grantedAt: Date;
  /** Time at which scopes were last added; equal to `grantedAt` if none were added. */
  readonly updatedAt: Date;
  /** URL to which the removal form is posted, with its token as `csrf`. */
  readonly revokeAction: string;
  readonly csrfToken: string;
}

export interface AppsView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  readonly apps: readonly ConnectedApp[];
  readonly userName: string | null;
  /** Time zone in which dates are shown; `null` if the user's is not known. */
  readonly timeZone: string | null;
  readonly notice: 'revoked' | null;
}

function since({ grantedAt, updatedAt }: ConnectedApp, { language, timeZone }: AppsView): Html {
  const words = language.texts.apps;
  const grantedOn = userDayIn(language, grantedAt, timeZone);
  const changedOn = userDayIn(language, updatedAt, timeZone);
  const granted = html`<time datetime="${grantedAt.toISOString()}">${grantedOn}</time>`;
  const changed = html`<time datetime="${updatedAt.toISOString()}">${changedOn}</time>`;
  return html`<span>${fill(language.tag, words.since, { date: granted })}</span>${grantedOn === changedOn ? null : html` <span>${fill(language.tag, words.changed, { date: changed })}</span>`}`;
}

function appItem(app: ConnectedApp, view: AppsView): Html {
  const { language } = view;
  const words = language.texts.apps;
  const client = nameOf(app.clientName);
  return html`<li class="app">
<header>${clientMark(app.clientName, app.logoUrl)}<div><h2>${client}</h2><p class="since small muted">${since(app, view)}</p></div></header>
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
${view.notice === 'revoked' ? html`<div class="notice" role="status">${icons.check}<p>${words.removed}</p></div>` : null}
${accountRow(view.userName, language, null)}
${list}
</main>`;
  return page({ theme, language: language.tag, title: words.title, body });
}
