import { type Html, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import type { Notice } from '../sessions.ts';
import { page } from './layout.ts';

/** The scopes that the shop can ask for, and what it would do with each. */
export const scopeChoices = [
  { name: 'openid', about: 'who you are: ids, role, country' },
  { name: 'profile', about: 'your name, to write it on the cup' },
  { name: 'kyc', about: 'whether your identity was verified' },
  { name: 'wallet:balance', about: 'whether you can pay for the coffee' },
  { name: 'identity', about: 'your trust level and credentials' },
] as const;

const chosenAtFirst: ReadonlySet<string> = new Set(['openid', 'profile']);

export function noticeOf(notice: Notice | null): Html | null {
  return notice && html`<p class="notice ${notice.kind}" role="status">${notice.text}</p>`;
}

/** The shop before anybody signed in. */
export function homePage(config: PartnerConfig, notice: Notice | null): string {
  const { name } = config.provider;
  const choices = scopeChoices.map(
    (scope) =>
      html`<label class="choice"><input type="checkbox" name="scope" value="${scope.name}"${
        chosenAtFirst.has(scope.name) ? html` checked` : null
      }><span><code>${scope.name}</code><small>${scope.about}</small></span></label>`,
  );
  return page(
    'Coffee from the hills',
    html`${noticeOf(notice)}
<div class="columns">
<div>
<h1>Coffee from the hills of Thiotte, roasted this morning.</h1>
<p class="lead">Sign in to order. You type your password at ${name} and nowhere else: this shop only learns what you agree to share.</p>
<p class="small">Choose what the shop asks for, sign in, and see what it received.</p>
</div>
<form class="card" method="post" action="/sign-in">
<h2>Sign in to order</h2>
<p class="small">No account of this shop is needed.</p>
<fieldset><legend>What the shop may ask for</legend>${choices}</fieldset>
<button class="button primary" type="submit" name="client" value="confidential">Sign in with ${name}</button>
<button class="button quiet" type="submit" name="client" value="public">Sign in as a public client</button>
<p class="small after">The second button uses a client without a secret: PKCE takes its place.</p>
</form>
</div>`,
  );
}
