import { qrCode } from '@ostiary/console';
import { html, initialOf } from '@ostiary/web-kit';
import type { Language } from '../settings.ts';
import type { Account } from '../users/accounts.ts';
import { type Branding, page } from './layout.ts';
import { texts } from './texts.ts';

/** A passport that was just issued. */
export interface ShownPassport {
  readonly token: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Makes the page with the user's passport as a QR code. The page works without its script, which counts down
 * and shows local time.
 */
export function passportPage(
  branding: Branding,
  language: Language,
  account: Account,
  { token, issuedAt, expiresAt }: ShownPassport,
): string {
  const t = texts[language];
  // The server does not know the reader's time zone. The page's script shows local time.
  const time = new Intl.DateTimeFormat([language, 'fr'], {
    timeStyle: 'medium',
    timeZone: 'UTC',
  }).format(expiresAt);
  return page(
    branding,
    language,
    t.passport,
    html`<h1>${t.passport}</h1>
<p class="lead">${t.passportLead}</p>
<div class="person"><div class="initial" aria-hidden="true">${initialOf(account.name)}</div>
<div><strong>${account.name}</strong><span>@${account.handle}</span></div></div>
<section id="passport" class="passport" aria-label="${t.passport}" data-lifetime="${String(expiresAt.getTime() - issuedAt.getTime())}" data-remaining="${t.remaining}" data-ended="${t.passportEnded}">
${qrCode(token, t.passportCode)}
<p class="until">${t.validUntil} <time id="until" datetime="${expiresAt.toISOString()}">${time} UTC</time></p>
<p class="countdown" id="countdown" role="timer" hidden></p>
<p class="notice" id="ended" role="status" hidden></p>
</section>
<div class="actions"><form method="post" action="/passport"><button class="button primary" type="submit">${t.newPassport}</button></form>
<a class="button" href="/">${t.back}</a></div>
<details><summary>${t.passportAsText}</summary><p class="hint">${t.passportHint}</p><code class="token" id="token" tabindex="0">${token}</code></details>`,
    html`<script src="/passport.js" defer></script>\n`,
  );
}
