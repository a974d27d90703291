import { fill, html } from '@ostiary/web-kit';
import type { Language } from '../settings.ts';
import type { AskingApp } from '../sign-in/asking-apps.ts';
import { type Branding, page, tileOf } from './layout.ts';
import { texts } from './texts.ts';

/** Content and hidden fields of the sign-in page. */
export interface LoginForm {
  readonly csrf: string;
  readonly returnTo: string;
  readonly uiLocales: string;
  /** True to ask for the password of a signed-in user: for confirmation, or to change the account. */
  readonly reauthenticate: boolean;
  /** True if a user is already signed in and signs in again. */
  readonly again: boolean;
  /**
   * Handle with which the form is filled in: typed before, suggested by the app, or that of the signed-in
   * user.
   */
  readonly handle: string;
  /** App that requested the sign-in; `null` for none. `sealed` is its signed parameter, unchanged. */
  readonly app: (AskingApp & { readonly sealed: string }) | null;
  /** Text of a message above the form; `null` for none. */
  readonly problem: string | null;
  /** True if the message concerns the typed values. */
  readonly wrongInput: boolean;
}

const eye = html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M1.8 10S4.7 4.6 10 4.6 18.2 10 18.2 10 15.3 15.4 10 15.4 1.8 10 1.8 10Z"/><circle cx="10" cy="10" r="2.4"/><path class="slash" d="m3.5 16.5 13-13"/></svg>`;

/**
 * Makes the page for signing in, or signing in again. The page works without its script, which can show the
 * password. The button that leads back to the app belongs to a form of its own, so that it sends no password.
 */
export function loginPage(branding: Branding, language: Language, form: LoginForm): string {
  const t = texts[language];
  const { app, again } = form;
  const title = again ? t.againTitle : t.signIn;
  const invalid = form.wrongInput ? html` aria-invalid="true" aria-describedby="problem"` : null;
  const focus = html` autofocus`;
  // `<bdi>` keeps the writing direction of a foreign name from affecting the text after it.
  const name = app && html`<bdi>${app.name}</bdi>`;
  const lead =
    name === null
      ? html`${again ? t.againLead : t.signInLead}`
      : fill(language, again ? t.againLeadFor : t.signInLeadFor, { app: html`<strong>${name}</strong>` });
  return page(
    branding,
    language,
    title,
    html`${app && tileOf(app.name, ' app')}<h1>${title}</h1>
<p class="lead">${lead}</p>
${form.problem === null ? null : html`<p class="notice" id="problem" role="alert">${form.problem}</p>`}
<form class="actions" method="post" action="/login">
<input type="hidden" name="csrf" value="${form.csrf}">
<input type="hidden" name="return_to" value="${form.returnTo}">
<input type="hidden" name="app" value="${app?.sealed ?? ''}">
<input type="hidden" name="ui_locales" value="${form.uiLocales}">
<input type="hidden" name="reauthenticate" value="${form.reauthenticate ? '1' : ''}">
<div class="field"><label for="handle">${t.handle}</label>
${html`<input id="handle" name="handle" value="${form.handle}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="64" required`}${form.handle === '' ? focus : null}${invalid}${html`>`}</div>
<div class="field"><label for="password">${t.password}</label>
${html`<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required`}${form.handle === '' ? null : focus}${invalid}${html`>`}
<button class="reveal" id="reveal" type="button" aria-pressed="false" aria-label="${t.showPassword}" aria-controls="password" hidden>${eye}${t.show}</button></div>
<button class="button primary" type="submit">${t.signIn}</button>
${app && name && html`<button class="button" type="submit" form="back"><span>${fill(language, t.backTo, { app: name })}</span></button>`}
</form>
${app && html`<form id="back" method="post" action="${app.cancelUrl}"></form>`}`,
    html`<script src="/login.js" defer></script>\n`,
  );
}
