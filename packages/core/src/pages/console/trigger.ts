import { html } from '../html.ts';
import { type ConsoleContext, type ConsolePage, consolePage, csrfField, problemRow } from './frame.ts';
import { consoleWords } from './text.ts';

/** The form for a test event with data of one's own. */
export interface TriggerView extends ConsoleContext {
  readonly type: string;
  /** JSON, or what was written instead of it. */
  readonly data: string;
  /** Why it was not sent: that it is no object, or words of the rules. */
  readonly problem: 'notObject' | { readonly words: string } | null;
}

/** The page on which the data of a test event is edited. */
export function triggerPage(view: TriggerView): ConsolePage {
  const { language, problem } = view;
  const words = consoleWords[language].trigger;
  const detail = problem === 'notObject' ? words.notObject : (problem?.words ?? null);
  return consolePage({
    ...view,
    title: words.editTitle,
    layout: 'one',
    live: null,
    body: html`${detail === null ? null : problemRow(words.refused, [detail])}
<section class="panel"><h2><code>${view.type}</code></h2>
<form class="form" method="post" action="${view.triggerUrl}">${csrfField(view)}<input type="hidden" name="type" value="${view.type}">
<div class="field"><label for="data">${words.data}</label>
<textarea id="data" name="data" rows="16" maxlength="20000" spellcheck="false" autocapitalize="none" aria-describedby="data-hint">
${view.data}</textarea>
<p class="small" id="data-hint">${words.dataHint}</p></div>
<div class="row"><button class="primary" name="step" value="send">${words.send}</button><a href="${view.homeUrl}">${consoleWords[language].cancel}</a></div>
</form></section>`,
  });
}
