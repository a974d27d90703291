import { html, initialOf } from '@ostiary/web-kit';
import type { Language } from '../settings.ts';
import type { Account } from '../users/accounts.ts';
import { type Branding, page } from './layout.ts';
import { texts } from './texts.ts';

/** Makes the start page: a description of this service or, after a sign-in, the name of the user. */
export function homePage(
  branding: Branding,
  language: Language,
  signedIn: { readonly account: Account; readonly csrf: string } | null,
): string {
  const t = texts[language];
  if (signedIn === null) {
    return page(
      branding,
      language,
      t.homeTitle,
      html`<h1>${t.homeTitle}</h1>
<p class="lead">${t.homeLead}</p>
<a class="button primary" href="/login">${t.signIn}</a>`,
    );
  }
  const { account, csrf } = signedIn;
  const status =
    account.kycStatus === 'approved' || account.kycStatus === 'pending' ? account.kycStatus : 'rejected';
  return page(
    branding,
    language,
    t.welcome,
    html`<h1>${t.welcome}</h1>
<div class="person"><div class="initial" aria-hidden="true">${initialOf(account.name)}</div>
<div><strong>${account.name}</strong><span>@${account.handle}</span></div></div>
<dl>
<div><dt>${t.userId}</dt><dd>${account.kid}</dd></div>
<div><dt>${t.phone}</dt><dd>${account.phone}</dd></div>
<div><dt>${t.identityCheck}</dt><dd>${t.kyc[status]}</dd></div>
</dl>
<div class="actions"><a class="button primary" href="/passport">${t.showPassport}</a>
<a class="button" href="/account/apps">${t.apps}</a>
<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${csrf}"><button class="button" type="submit">${t.signOut}</button></form></div>`,
  );
}
