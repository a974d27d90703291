import { fillText, type Html, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import type { Notice } from '../sessions.ts';
import { page } from './layout.ts';
import type { Words } from './words.ts';

/** Scopes that the shop can request; `words` describes the shop's use of each. */
export const scopeChoices = [
  { name: 'openid', about: 'openid' },
  { name: 'profile', about: 'profile' },
  { name: 'kyc', about: 'kyc' },
  { name: 'wallet:balance', about: 'balance' },
  { name: 'identity', about: 'identity' },
] as const satisfies readonly { readonly about: keyof Words; readonly name: string }[];

const chosenAtFirst: ReadonlySet<string> = new Set(['openid', 'profile']);

export function noticeOf(notice: Notice | null): Html | null {
  return notice && html`<p class="notice ${notice.kind}" role="status">${notice.text}</p>`;
}

/** Makes the home page before a sign-in. */
export function homePage(words: Words, config: PartnerConfig, notice: Notice | null): string {
  const provider = config.provider.name;
  const choices = scopeChoices.map(
    (scope) =>
      html`<label class="choice">${html`<input type="checkbox" name="scope" value="${scope.name}"`}${
        chosenAtFirst.has(scope.name) ? html` checked` : null
      }${html`>`}<span><code>${scope.name}</code><small>${words[scope.about]}</small></span></label>`,
  );
  return page(
    words,
    words.title,
    html`${noticeOf(notice)}
<div class="columns">
<div>
<h1>${words.headline}</h1>
<p class="lead">${fillText(words.language, words.lead, { provider })}</p>
<p class="small">${words.chooseAndSee}</p>
</div>
<form class="card" method="post" action="/sign-in">
<h2>${words.signInToOrder}</h2>
<p class="small">${words.noAccount}</p>
<fieldset><legend>${words.mayAskFor}</legend>${choices}</fieldset>
<button class="button primary" type="submit" name="client" value="confidential">${fillText(words.language, words.signInWith, { provider })}</button>
<button class="button quiet" type="submit" name="client" value="public">${words.signInPublic}</button>
<p class="small after">${words.publicAfter}</p>
</form>
</div>`,
  );
}
