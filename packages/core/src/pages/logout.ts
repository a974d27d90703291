import type { PageLanguage } from '../languages/page-language.ts';
import { fill } from './fill.ts';
import { html, nameOf } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { accountRow, icons } from './parts.ts';

export interface LogoutView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  /** Name of the app that requested the sign-out; `null` if unknown. */
  readonly clientName: string | null;
  /** Name of the signed-in user; `null` if the host application provides none. */
  readonly userName: string | null;
  readonly csrfToken: string;
  /** URL to which the form is posted: `decision` is `leave` or `stay`, `csrf` the form token. */
  readonly action: string;
}

/** Renders a page that asks whether the user wants to sign out. */
export function logoutPage({ theme, language, clientName, ...view }: LogoutView): Page {
  const words = language.texts.logout;
  const service = nameOf(theme.name);
  const ask =
    clientName === null
      ? fill(language.tag, words.ask, { service })
      : fill(language.tag, words.askedBy, { service, client: html`<strong>${nameOf(clientName)}</strong>` });
  const body = html`<main class="card">
<div class="lead"><span class="disc">${icons.leave}</span><h1>${words.title}</h1><p class="muted">${ask}</p></div>
${accountRow(view.userName, language, null)}
<form class="actions pair" method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrfToken}">
<button class="primary" name="decision" value="leave">${words.leave}</button>
<button name="decision" value="stay">${words.stay}</button>
</form>
</main>`;
  return page({ theme, language: language.tag, title: words.title, body });
}

/**
 * Renders the page that confirms a sign-out, or that the user stays signed in, if the browser does not return
 * to an app.
 */
export function afterLogoutPage(
  { theme, language }: Pick<LogoutView, 'theme' | 'language'>,
  decision: 'leave' | 'stay',
): Page {
  const { left, stayed } = language.texts.logout;
  const { title, advice } = decision === 'leave' ? left : stayed;
  const text = fill(language.tag, advice, { service: nameOf(theme.name) });
  const body = html`<main class="card">
<div class="lead"><span class="disc">${icons.check}</span><h1>${title}</h1><p class="muted">${text}</p></div>
</main>`;
  return page({ theme, language: language.tag, title, body });
}
