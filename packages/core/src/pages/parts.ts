import { type Language, type Scope, scopes } from '../scopes.ts';
import { type Html, html, nameOf } from './html.ts';
import { icons, monogram } from './icons.ts';
import { text } from './text.ts';

/** Who is signed in, with a way to become somebody else; nothing where the host tells neither. */
export function accountRow(
  userName: string | null,
  language: Language,
  switchAccountUrl: string | null,
): Html | null {
  if (userName === null && switchAccountUrl === null) return null;
  const words = text[language];
  return html`<div class="account">
${userName === null ? null : html`${monogram(userName, 'user')}<p class="who"><span>${words.signedInAs}</span> <strong>${nameOf(userName)}</strong></p>`}
${switchAccountUrl === null ? null : html`<a href="${switchAccountUrl}">${words.consent.switchAccount}</a>`}
</div>`;
}

/** What an app can see, in plain words; `marked` puts the word "new" beside a title. */
export function scopeList(
  items: readonly { readonly name: Scope; readonly marked: boolean }[],
  language: Language,
): Html {
  const item = ({ name, marked }: (typeof items)[number]): Html => {
    const { title, detail } = scopes[name].consent[language];
    const badge = html` <span class="badge">${text[language].consent.newBadge}</span>`;
    return html`<li><span class="mark">${icons.check}</span><p class="what"><span class="title">${title}${marked ? badge : null}</span> <span class="detail">${detail}</span></p></li>`;
  };
  return html`<ul class="scopes">${items.map(item)}</ul>`;
}
