import { html } from '../html.ts';
import { icons } from '../icons.ts';
import type { PageContext } from '../layout.ts';
import { type ConsolePage, csrfField, finishedPage, noticeRow, problemRow } from './frame.ts';
import { consoleWords } from './text.ts';
import type { Notice } from './words.ts';

/** What the page shows to whoever is not signed in. It never holds a key. */
export interface SignInView extends PageContext {
  /** What test keys begin with. */
  readonly keyPrefix: string;
  readonly action: string;
  readonly csrfToken: string;
  readonly problem: 'refused' | 'too_many' | null;
  readonly notice: Notice | null;
}

/** The page on which a partner signs in with a test key. */
export function signInPage(view: SignInView): ConsolePage {
  const { theme, language, problem } = view;
  const words = consoleWords[language];
  const prefix = html`<code>${view.keyPrefix}</code>`;
  const body = html`<main class="card">
<div class="lead"><span class="disc">${icons.plug}</span><h1>${words.signIn.title}</h1><p class="muted">${words.signIn.intro(prefix)}</p></div>
${noticeRow(view.notice, words)}
${problem === null ? null : problemRow(problem === 'refused' ? words.signIn.refused(prefix) : words.signIn.tooMany)}
<form class="form" method="post" action="${view.action}">
${csrfField(view)}
<div class="field"><label for="key">${words.signIn.key}</label>
<input id="key" name="key" type="password" required maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="promise"></div>
<button class="primary">${words.signIn.submit}</button>
<p class="small muted" id="promise">${words.signIn.promise}</p>
</form>
</main>`;
  return finishedPage({ theme, language, title: words.title, body });
}
