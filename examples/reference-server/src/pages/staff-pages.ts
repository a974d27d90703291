import { qrCode } from '@ostiary/console';
import { type Html, html } from '@ostiary/web-kit';
import type { Language } from '../settings.ts';
import type { StaffMember } from '../staff/members.ts';
import { type Branding, page } from './layout.ts';
import { texts } from './texts.ts';

/** Form that the script of staff pages submits with a passkey. The form stays hidden without the script. */
interface PasskeyForm {
  readonly action: string;
  /** Options for the browser's passkey functions, as JSON. */
  readonly options: object;
  readonly kind: 'create' | 'get';
  readonly label: string;
  /** False if the page has a more important button than this one. @defaultValue true */
  readonly isPrimary?: boolean;
  /** Hidden fields of a staff form. */
  readonly fields: Readonly<Record<string, string>>;
}

const script = html`<script src="/staff.js" defer></script>\n`;

const hidden = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

const notice = (problem: string | null): Html | null =>
  problem === null ? null : html`<p class="notice" id="problem" role="alert">${problem}</p>`;

function passkeyForm(
  { action, options, kind, label, isPrimary = true, fields }: PasskeyForm,
  failed: string,
): Html {
  return html`<form class="actions" id="passkey" method="post" action="${action}" data-kind="${kind}" data-options="${JSON.stringify(options)}" hidden>${hidden(fields)}<input type="hidden" name="credential" value="">
<p class="notice" id="passkey-problem" role="alert" hidden>${failed}</p>
<button class="button${isPrimary ? ' primary' : ''}" type="submit">${label}</button></form>`;
}

/** Makes the page where staff sign in, or sign in again before an act that needs a recent sign-in. */
export function staffLoginPage(
  branding: Branding,
  language: Language,
  form: {
    readonly csrf: string;
    readonly returnTo: string;
    readonly isAgain: boolean;
    readonly email: string;
    readonly problem: string | null;
    readonly passkeyOptions: object;
    /** True if a person who has set up no one-time codes may leave the code empty. */
    readonly isCodeOptional: boolean;
  },
): string {
  const { staff: t, ...common } = texts[language];
  const title = form.isAgain ? t.againTitle : t.signIn;
  const fields = { csrf: form.csrf, return_to: form.returnTo, again: form.isAgain ? '1' : '' };
  return page(
    branding,
    language,
    title,
    html`<h1>${title}</h1>
<p class="lead">${form.isAgain ? t.againLead : t.signInLead}</p>
${notice(form.problem)}
${passkeyForm({ action: '/staff/login/passkey', options: form.passkeyOptions, kind: 'get', label: t.withPasskey, fields }, t.passkeyFailed)}
<form class="actions" method="post" action="/staff/login">${hidden(fields)}
<div class="field"><label for="email">${t.email}</label><input id="email" name="email" type="email" value="${form.email}" autocomplete="username" maxlength="200" required></div>
<div class="field"><label for="password">${common.password}</label><input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required></div>
<div class="field"><label for="code">${t.code}</label><input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" aria-describedby="code-hint"></div>
<p class="hint" id="code-hint">${form.isCodeOptional ? t.codeHintOptional : t.codeHint}</p>
<button class="button" type="submit">${t.withPassword}</button></form>`,
    script,
  );
}

/** Makes the page on which an invited person sets up a passkey, or a password with one-time codes. */
export function joinPage(
  branding: Branding,
  language: Language,
  form: {
    readonly csrf: string;
    readonly token: string;
    readonly member: StaffMember;
    readonly totp: { readonly url: string; readonly secret: string };
    readonly problem: string | null;
    readonly passkeyOptions: object;
  },
): string {
  const { staff: t, ...common } = texts[language];
  const fields = { csrf: form.csrf, link: form.token };
  const otherWay = html`<summary>${t.orPassword}</summary>
<form class="actions" method="post" action="/staff/join">${hidden(fields)}
<p>${t.scan}</p>${qrCode(form.totp.url, t.qrLabel)}
<p class="hint">${t.typeSecret} <code class="token">${form.totp.secret}</code></p>
<input type="hidden" name="username" autocomplete="username" value="${form.member.email}">
<div class="field"><label for="password">${common.password}</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="10" maxlength="256" required></div>
<div class="field"><label for="code">${t.code}</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="10" required></div>
<button class="button" type="submit">${t.setUp}</button></form>`;
  return page(
    branding,
    language,
    t.joinTitle,
    html`<h1>${t.joinTitle}</h1>
<p class="lead"><strong>${form.member.email}</strong> · ${t.roles[form.member.role]}</p>
${notice(form.problem)}
${passkeyForm({ action: '/staff/join/passkey', options: form.passkeyOptions, kind: 'create', label: t.makePasskey, fields }, t.passkeyFailed)}
${form.problem === null ? html`<details>${otherWay}</details>` : html`<details open>${otherWay}</details>`}`,
    script,
  );
}

/** Makes the page with the recovery codes, which only this response contains. */
export function recoveryPage(branding: Branding, language: Language, codes: readonly string[]): string {
  const { staff: t } = texts[language];
  return page(
    branding,
    language,
    t.recoveryTitle,
    html`<h1>${t.recoveryTitle}</h1>
<p class="lead">${t.recoveryLead}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<a class="button primary" href="/operators">${t.toPages}</a>`,
  );
}

/** Makes the page for an invitation link that was used, replaced, or has expired. */
export function linkOverPage(branding: Branding, language: Language): string {
  const { staff: t } = texts[language];
  return page(
    branding,
    language,
    t.linkOverTitle,
    html`<h1>${t.linkOverTitle}</h1>
<p class="lead">${t.linkOverLead}</p>
<a class="button" href="/staff/login">${t.signIn}</a>`,
  );
}

/** Makes the page of a staff member: e-mail address, role, number of passkeys, and a form to sign out. */
export function staffPage(
  branding: Branding,
  language: Language,
  form: {
    readonly csrf: string;
    readonly member: StaffMember;
    readonly passkeys: number;
    /** Options for adding a passkey; `null` if the sign-in must be confirmed first. */
    readonly passkeyOptions: object | null;
    readonly problem: string | null;
  },
): string {
  const { staff: t, ...common } = texts[language];
  const fields = { csrf: form.csrf };
  const add =
    form.passkeyOptions === null
      ? html`<a class="button" href="/staff/login?again=1&amp;return_to=/staff">${t.addPasskey}</a>`
      : passkeyForm(
          {
            ...{ action: '/staff/passkeys', options: form.passkeyOptions, kind: 'create', fields },
            ...{ label: t.addPasskey, isPrimary: false },
          },
          t.passkeyFailed,
        );
  return page(
    branding,
    language,
    t.accountTitle,
    html`<h1>${t.accountTitle}</h1>
${notice(form.problem)}
<dl>
<div><dt>${t.email}</dt><dd>${form.member.email}</dd></div>
<div><dt>${t.role}</dt><dd>${t.roles[form.member.role]}</dd></div>
<div><dt>${t.passkeys}</dt><dd>${form.passkeys}</dd></div>
</dl>
<div class="actions"><a class="button primary" href="/operators">${t.toPages}</a>
${add}
<form method="post" action="/staff/sign-out">${hidden(fields)}<button class="button" type="submit">${common.signOut}</button></form></div>`,
    script,
  );
}
