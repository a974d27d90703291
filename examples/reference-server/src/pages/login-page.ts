import { html } from '@ostiary/web-kit';
import { type Look, page } from './layout.ts';
import { type Language, texts } from './texts.ts';

/** What the sign-in page shows and sends along. */
export interface LoginForm {
  readonly csrf: string;
  readonly returnTo: string;
  readonly uiLocales: string;
  /** Whether the password is asked although somebody may be signed in: to be sure, or to change the account. */
  readonly reauthenticate: boolean;
  /** Whether this is about somebody who is signed in. */
  readonly again: boolean;
  /** Typed before, or hinted by the app, or of whoever is signed in. */
  readonly handle: string;
  /** Said in a notice above the form. */
  readonly problem: string | null;
  /** Whether the problem lies in what was typed. */
  readonly wrongInput: boolean;
}

/** The page where one signs in, or signs in again. */
export function loginPage(look: Look, language: Language, form: LoginForm): string {
  const t = texts[language];
  const title = form.again ? t.againTitle : t.signIn;
  const invalid = form.wrongInput ? html` aria-invalid="true" aria-describedby="problem"` : null;
  const focus = html` autofocus`;
  return page(
    look,
    language,
    title,
    html`<h1>${title}</h1>
<p class="lead">${form.again ? t.againLead : t.signInLead}</p>
${form.problem === null ? null : html`<p class="notice" id="problem" role="alert">${form.problem}</p>`}
<form method="post" action="/login">
<input type="hidden" name="csrf" value="${form.csrf}">
<input type="hidden" name="return_to" value="${form.returnTo}">
<input type="hidden" name="ui_locales" value="${form.uiLocales}">
<input type="hidden" name="reauthenticate" value="${form.reauthenticate ? '1' : ''}">
<div class="field"><label for="handle">${t.handle}</label>
<input id="handle" name="handle" value="${form.handle}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="64" required${form.handle === '' ? focus : null}${invalid}></div>
<div class="field"><label for="password">${t.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required${form.handle === '' ? null : focus}${invalid}></div>
<button class="button primary" type="submit">${t.signIn}</button>
</form>`,
  );
}
