import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { formOf, noProblems, type Problems, problemsOf } from './forms.ts';
import { answerFramed, csrfField } from './frame.ts';
import { seeOther, type Visit } from './visit.ts';

function show(
  visit: Visit,
  { type, data }: { readonly type: string; readonly data: string },
  problems: Problems = noProblems,
): ConsoleAnswer {
  const { urlOf, voice } = visit;
  const words = voice.words.trigger;
  const form = formOf({ data: words.data }, problems, words.refused);
  const tag = html`<textarea rows="16" maxlength="20000" spellcheck="false" autocapitalize="none"`;
  // HTML parsers drop a line break right after the tag.
  const end = html`>
${data}</textarea>`;
  return answerFramed(visit, {
    title: words.editTitle,
    layout: 'one',
    status: form.status,
    body: html`${form.summary}
<section class="panel"><h2><code>${type}</code></h2>
<form class="form" method="post" action="${urlOf('trigger')}">${csrfField(visit)}<input type="hidden" name="type" value="${type}">
${form.field({ name: 'data', tag, end, hint: words.dataHint })}
<div class="row"><button class="primary" name="step" value="send">${words.send}</button><a href="${urlOf('home')}">${voice.words.cancel}</a></div>
</form></section>`,
  });
}

function knownType({ backend }: Visit, type: string | null | undefined): string {
  const known = backend.events.types.find((name) => name === type);
  if (known !== undefined) return known;
  throw new PartnerError('not_found', { description: 'There is no such type of event.' });
}

/** Shows the form for a test event with custom data. */
export async function editEvent(visit: Visit): Promise<ConsoleAnswer> {
  const type = knownType(visit, visit.request.query.get('type'));
  return show(visit, { type, data: JSON.stringify(visit.backend.events.example(type), null, 2) });
}

/** Handles the form that triggers a test event. */
export async function sendEvent(visit: Visit, form: ReadonlyMap<string, string>): Promise<ConsoleAnswer> {
  const { api, urlOf } = visit;
  const type = knownType(visit, form.get('type'));
  if (form.get('step') === 'edit') return seeOther(urlOf('trigger', { type }));
  const data = form.get('data');
  try {
    // Keep the typed text as it is. The API checks whether it is JSON.
    const member = data === undefined ? '' : `,"data":${data}`;
    const body = `{"type":${JSON.stringify(type)}${member}}`;
    const { id } = await api('createSandboxEvent', { body });
    return seeOther(urlOf('event', { id, notice: 'sent' }));
  } catch (error) {
    return show(visit, { type, data: data ?? '' }, problemsOf(visit.voice, error, ['data'], 'data'));
  }
}
