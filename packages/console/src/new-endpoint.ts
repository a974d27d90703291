import { type ConsoleAnswer, type Html, html } from '@ostiary/core/console';
import { answerFramed, csrfField, problemRow } from './frame.ts';
import { problemsOf, seeOther, type Visit } from './visit.ts';

/** What the name of a type's checkbox begins with; `*` stands for all types. */
const typeField = 'type ';

/** What was filled in; the secret is never sent back. */
interface Filled {
  readonly url: string;
  readonly types: readonly string[];
}

function show(visit: Visit, { url, types }: Filled, problems: readonly string[] = []): ConsoleAnswer {
  const { desk, urlOf, voice } = visit;
  const words = voice.words.endpoints;
  const box = (type: string, label: Html | string): Html =>
    html`<label class="option">${
      types.includes(type)
        ? html`<input type="checkbox" name="${typeField}${type}" checked>`
        : html`<input type="checkbox" name="${typeField}${type}">`
    }<span>${label}</span></label>`;
  return answerFramed(visit, {
    title: words.addTitle,
    layout: 'one',
    status: problems.length === 0 ? 200 : 400,
    body: html`${problems.length === 0 ? null : problemRow(words.refused, problems)}
<section class="panel"><form class="form" method="post" action="${urlOf('endpoints')}">${csrfField(visit)}
<div class="field"><label for="url">${words.url}</label>
<input id="url" name="url" type="url" required maxlength="2048" value="${url.slice(0, 2048)}" placeholder="https://" spellcheck="false" autocapitalize="none" aria-describedby="url-hint">
<p class="small" id="url-hint">${words.urlHint}</p></div>
<div class="field"><label for="secret">${words.secret}</label>
<input id="secret" name="secret" type="password" required minlength="16" maxlength="256" autocomplete="new-password" spellcheck="false" aria-describedby="secret-hint">
<p class="small" id="secret-hint">${words.secretHint}</p></div>
<fieldset><legend>${words.types}</legend>
${box('*', words.allTypes)}
${desk.events.types.map((type) => box(type, html`<code>${type}</code>`))}
</fieldset>
<div class="row"><button class="primary">${words.add}</button><a href="${urlOf('home')}">${voice.words.cancel}</a></div>
</form></section>`,
  });
}

/** The form for an endpoint. */
export async function newEndpoint(visit: Visit): Promise<ConsoleAnswer> {
  return show(visit, { url: '', types: ['*'] });
}

/** Registers an endpoint. */
export async function addEndpoint(visit: Visit, form: ReadonlyMap<string, string>): Promise<ConsoleAnswer> {
  const { api, desk, urlOf, voice } = visit;
  const url = (form.get('url') ?? '').trim();
  const types = ['*', ...desk.events.types].filter((type) => form.has(`${typeField}${type}`));
  // The one mistake that a browser does not point out.
  if (types.length === 0) return show(visit, { url, types }, [voice.words.endpoints.badTypes]);
  try {
    const events = types.includes('*') ? ['*'] : types;
    const settings = { url, secret: form.get('secret') ?? '', events };
    await api('createWebhook', { body: JSON.stringify(settings) });
  } catch (error) {
    return show(visit, { url, types }, problemsOf(error));
  }
  return seeOther(urlOf('home', { notice: 'endpoint_added' }));
}
