import { type Html, html } from '../html.ts';
import { type ConsoleContext, type ConsolePage, consolePage, csrfField, problemRow } from './frame.ts';
import { consoleWords } from './text.ts';

/** The form for an endpoint, with what was filled in before, except for the secret. */
export interface NewEndpointView extends ConsoleContext {
  readonly types: readonly string[];
  readonly filled: { readonly url: string; readonly types: readonly string[] };
  /** Why it was not registered: codes of ours, or words of the rules. */
  readonly problems: readonly ('badUrl' | 'badSecret' | 'badTypes' | { readonly words: string })[];
}

/** What the name of a type's checkbox begins with; `*` stands for all types. */
export const typeField = 'type ';

/** The page on which an endpoint is registered. */
export function newEndpointPage(view: NewEndpointView): ConsolePage {
  const { language, filled, problems } = view;
  const words = consoleWords[language].endpoints;
  const box = (type: string, label: Html): Html =>
    html`<label class="option">${
      filled.types.includes(type)
        ? html`<input type="checkbox" name="${typeField}${type}" checked>`
        : html`<input type="checkbox" name="${typeField}${type}">`
    }<span>${label}</span></label>`;
  const details = problems.map((problem) => (typeof problem === 'string' ? words[problem] : problem.words));
  return consolePage({
    ...view,
    title: words.addTitle,
    layout: 'one',
    live: null,
    body: html`${problems.length === 0 ? null : problemRow(words.refused, details)}
<section class="panel"><form class="form" method="post" action="${view.endpointsUrl}">${csrfField(view)}
<div class="field"><label for="url">${words.url}</label>
<input id="url" name="url" type="url" required maxlength="2048" value="${filled.url}" placeholder="https://" spellcheck="false" autocapitalize="none" aria-describedby="url-hint">
<p class="small" id="url-hint">${words.urlHint}</p></div>
<div class="field"><label for="secret">${words.secret}</label>
<input id="secret" name="secret" type="password" required minlength="16" maxlength="256" autocomplete="new-password" spellcheck="false" aria-describedby="secret-hint">
<p class="small" id="secret-hint">${words.secretHint}</p></div>
<fieldset><legend>${words.types}</legend>
${box('*', html`${words.allTypes}`)}
${view.types.map((type) => box(type, html`<code>${type}</code>`))}
</fieldset>
<div class="row"><button class="primary">${words.add}</button><a href="${view.homeUrl}">${consoleWords[language].cancel}</a></div>
</form></section>`,
  });
}
