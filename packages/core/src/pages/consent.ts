import type { PageLanguage } from '../languages/page-language.ts';
import { fill, fillText } from './fill.ts';
import { type Html, html, nameOf } from './html.ts';
import { languageLinks } from './language-links.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { accountRow, clientMark, icons, type ListedScope, scopeList } from './parts.ts';

/** A requested scope, as the consent page shows it. */
interface ConsentScope {
  readonly name: string;
  readonly isNew: boolean;
  /** True if the user may leave the scope out on the consent page. */
  readonly isOptional: boolean;
  /** True if the user left the scope out before. Its checkbox is then not ticked. */
  readonly isDeclined: boolean;
  /** The user's own data of the scope; empty if the page does not show it. */
  readonly values: readonly string[];
}

export interface ConsentView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  /** All languages of the service's pages, for links to this page in another language. */
  readonly languages: readonly PageLanguage[];
  readonly clientName: string;
  /** Name of the partner that owns the app; `null` if no partner owns it. */
  readonly partnerName: string | null;
  readonly logoUrl: string | null;
  /** Name of the signed-in user; `null` if the host application provides none. */
  readonly userName: string | null;
  readonly scopes: readonly ConsentScope[];
  /** Names of the APIs for which the app requests access. */
  readonly resourceNames: readonly string[];
  /** Destination of the user after the consent: the host of the redirect URI, or its private-use scheme. */
  readonly redirectTarget: string;
  /** True if the redirect URI is a web page, whose host the page may show as the app's address. */
  readonly isWebsite: boolean;
  /** Time for which a sign-in gives the app access, in seconds. */
  readonly accessSeconds: number;
  /** True if the app can renew its access without the user (refresh tokens). */
  readonly keepsAccess: boolean;
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

/** Renders links to the app's pages about its use of data; `null` if the app has none. */
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

/** Renders the address of the app and the partner that owns it. */
function ownerLine({
  clientName,
  partnerName,
  redirectTarget,
  isWebsite,
  language,
  document,
}: ConsentView): Html | null {
  const address = isWebsite && document === null ? [nameOf(redirectTarget)] : [];
  const words = language.texts.consent.registeredBy;
  // A partner with the name of its app would tell the user nothing.
  const isNamed = partnerName !== null && partnerName !== clientName;
  const owner = isNamed ? [fill(language.tag, words, { partner: nameOf(partnerName) })] : [];
  const parts = [...address, ...owner];
  if (parts.length === 0) return null;
  return html`
<p class="small muted">${parts.map((part, at) => html`${at === 0 ? null : ' · '}${part}`)}</p>`;
}

/**
 * Renders the requested scopes. Optional scopes have a checkbox, which the form posts as `allow:NAME`; the
 * field `offered` lists their names.
 */
function scopeRows({ scopes, language }: ConsentView, showNew: boolean): Html {
  const offered = scopes.filter(({ isOptional }) => isOptional).map(({ name }) => name);
  const rows = scopes.map(({ name, isNew, isOptional, isDeclined, values }): ListedScope => {
    const box = isDeclined
      ? html`<input type="checkbox" name="allow:${name}" form="decision">`
      : html`<input type="checkbox" name="allow:${name}" form="decision" checked>`;
    const needed = html`<span class="needed">${language.texts.consent.needed}</span>`;
    const aside = { html: isOptional ? box : needed, isControl: isOptional };
    return { name, marked: showNew && isNew, values, aside: offered.length === 0 ? null : aside };
  });
  return html`${scopeList(rows, language)}${offered.length === 0 ? null : html`<input type="hidden" name="offered" value="${offered.join(' ')}" form="decision">`}`;
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
<h1><span class="name">${client}</span> <span class="ask">${fill(language.tag, words.ask, { service: nameOf(theme.name) })}</span></h1>${ownerLine(view)}
</div>
${uncheckedBox(view, words)}${accountRow(view.userName, language, view.switchAccountUrl)}
<section aria-labelledby="scopes">
<h2 id="scopes">${fill(language.tag, words.scopes, { client })}</h2>
${showNew && scopes.some(({ isNew }) => isNew) ? html`<p class="hint small muted">${words.onlyNew}</p>` : null}
${scopeRows(view, showNew)}${view.resourceNames.map(
  (name) => html`
<p class="small muted">${fill(language.tag, words.usedAt, { resource: html`<strong>${nameOf(name)}</strong>` })}</p>`,
)}
</section>
<ul class="promises">
<li>${icons.lock}<p>${fill(language.tag, words.noPassword, { client })}</p></li>
<li>${icons.undo}<p>${fill(language.tag, words.lasts, { hours: Math.max(1, Math.round(view.accessSeconds / 3600)) })} ${view.keepsAccess ? html`${words.lastsAway} ` : null}${words.withdraw}</p></li>
</ul>
<form class="actions pair" id="decision" method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrfToken}">
<button class="primary" name="decision" value="approve">${words.approve}</button>
<button name="decision" value="deny">${words.deny}</button>
<p class="small muted">${fill(language.tag, words.sentBack, { host: html`<strong>${nameOf(view.redirectTarget)}</strong>` })}</p>${linksOf(view, words)}
</form>
</main>
${languageLinks(view.languages, language, view.action)}`;
  return page({
    ...{ theme, body, language: language.tag },
    title: fillText(language.tag, words.title, { client: view.clientName }),
  });
}
