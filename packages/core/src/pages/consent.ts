import type { PageLanguage } from '../languages/page-language.ts';
import { fill, fillText } from './fill.ts';
import { type Html, html, nameOf } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { accountRow, clientMark, icons, scopeList } from './parts.ts';

export interface ConsentView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  readonly clientName: string;
  readonly logoUrl: string | null;
  /** Name of the signed-in user; `null` if the host provides none. */
  readonly userName: string | null;
  readonly scopes: readonly { readonly name: string; readonly isNew: boolean }[];
  /** Names of the APIs for which the app requests access. */
  readonly resourceNames: readonly string[];
  /** Destination of the user afterwards: the host of the redirect URI, or its private-use scheme. */
  readonly redirectTarget: string;
  readonly csrfToken: string;
  /** URL to which the form is posted: `decision` is `approve` or `deny`, `csrf` the form token. */
  readonly action: string;
  readonly switchAccountUrl: string | null;
  /**
   * Present for an app that no administrator has checked: the name that its metadata document claims, and
   * whether the response goes to a program on the user's device. `clientName` is then the host of the
   * document's URL. `null` for any other app.
   */
  readonly document: { readonly claimedName: string | null; readonly returnsToDevice: boolean } | null;
  /** URL of the app's terms of service on its own site; `null` if there is none. */
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
}

/** Renders links to the app's pages about its use of data; empty if the app has none. */
function linksOf(
  { termsUrl, privacyUrl }: ConsentView,
  words: PageLanguage['texts']['consent'],
): Html | null {
  const links = [
    ...(termsUrl === null ? [] : [{ url: termsUrl, text: words.terms }]),
    ...(privacyUrl === null ? [] : [{ url: privacyUrl, text: words.privacy }]),
  ];
  if (links.length === 0) return null;
  return html`
<p class="small muted">${links.map(({ url, text }, at) => html`${at === 0 ? null : ' · '}<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`)}</p>`;
}

/** Renders a warning about an app that no administrator has checked. */
function uncheckedBox(
  { clientName, document, theme, language: { tag } }: ConsentView,
  words: PageLanguage['texts']['consent'],
): Html | null {
  if (document === null) return null;
  const { claimedName, returnsToDevice } = document;
  const known = { service: nameOf(theme.name), host: nameOf(clientName) };
  return html`<div class="account" role="note">
<p><strong>${fill(tag, words.unchecked, known)}</strong></p>
${returnsToDevice ? html`<p><strong>${words.returnsToDevice}</strong></p>` : null}
${claimedName === null ? null : html`<p class="small muted">${fill(tag, words.claimedName, { name: nameOf(claimedName) })}</p>`}
</div>
`;
}

export function consentPage(view: ConsentView): Page {
  const { theme, language, scopes } = view;
  // Mark new scopes only if the user has already allowed others.
  const showNew = scopes.some(({ isNew }) => !isNew);
  const words = language.texts.consent;
  const client = nameOf(view.clientName);
  const body = html`<main class="card">
<div class="lead">
${view.document === null ? clientMark(view.clientName, view.logoUrl) : html`<span class="disc alert">${icons.warning}</span>`}
<h1><span class="name">${client}</span> <span class="ask">${fill(language.tag, words.ask, { service: nameOf(theme.name) })}</span></h1>
</div>
${uncheckedBox(view, words)}${accountRow(view.userName, language, view.switchAccountUrl)}
<section aria-labelledby="scopes">
<h2 id="scopes">${fill(language.tag, words.scopes, { client })}</h2>
${showNew && scopes.some(({ isNew }) => isNew) ? html`<p class="hint small muted">${words.onlyNew}</p>` : null}
${scopeList(
  scopes.map(({ name, isNew }) => ({ name, marked: showNew && isNew })),
  language,
)}${view.resourceNames.map(
  (name) => html`
<p class="small muted">${fill(language.tag, words.usedAt, { resource: html`<strong>${nameOf(name)}</strong>` })}</p>`,
)}
</section>
<ul class="promises">
<li>${icons.lock}<p>${fill(language.tag, words.noPassword, { client })}</p></li>
<li>${icons.undo}<p>${words.withdraw}</p></li>
</ul>
<form class="actions pair" method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrfToken}">
<button class="primary" name="decision" value="approve">${words.approve}</button>
<button name="decision" value="deny">${words.deny}</button>
<p class="small muted">${fill(language.tag, words.sentBack, { host: html`<strong>${nameOf(view.redirectTarget)}</strong>` })}</p>${linksOf(view, words)}
</form>
</main>`;
  return page({
    ...{ theme, body, language: language.tag },
    title: fillText(language.tag, words.title, { client: view.clientName }),
  });
}
