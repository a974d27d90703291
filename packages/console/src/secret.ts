import type { ConsoleAnswer, WebhookEndpoint } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { formOf, noProblems, type Problems, problemsOf } from './forms.ts';
import { answerFramed, csrfField, noticeOf } from './frame.ts';
import { secretText } from './parts.ts';
import { copyButton } from './snippets.ts';
import { seeOther, type Visit } from './visit.ts';

/**
 * Shows a newly generated secret, or a line that contains it, with a button to copy it. No other response
 * contains the secret.
 */
function secretOnce(text: string, { voice }: Visit, title = voice.words.endpoints.secret): Html {
  return html`<div class="snippet">${secretText(text)}${copyButton(voice, title)}</div>`;
}

/** A generated webhook secret: of a new endpoint, or a replacement that is not used yet. */
interface GeneratedSecret {
  readonly purpose: 'new' | 'replacement';
  readonly secret: string;
}

/**
 * Stores a generated secret until this session views it once. Returns the ticket for the page {@link secret}.
 */
export const keepSecret = (
  { backend }: Visit,
  session: string,
  generated: GeneratedSecret,
): Promise<string> => backend.keepOnce(session, JSON.stringify(generated));

/** Makes the page that shows the generated secret of a new endpoint. */
function newSecretPage(visit: Visit, secret: string): ConsoleAnswer {
  const { id, mode, urlOf, voice } = visit;
  const words = voice.words.secrets;
  const receive = html`<p><a href="${urlOf('receiver', { id })}">${voice.words.receiver.open}</a></p>`;
  return answerFramed(visit, {
    title: words.newTitle,
    layout: 'one',
    body: html`<section class="panel"><p>${words.newHint}</p>
${secretOnce(secret, visit)}
${secretOnce(`WEBHOOK_SECRET=${secret}`, visit, '.env')}
<p class="small muted">${words.onlyNow}</p>
${mode === 'test' ? receive : null}
<p><a href="${urlOf('endpoint', { id })}">${words.toEndpoint}</a></p></section>`,
  });
}

/**
 * Shows a generated webhook secret, this one time only. If `generated` is `null`, shows a button that
 * generates one.
 */
function generatedPanel(visit: Visit, generated: string | null): Html {
  const { id, urlOf, voice } = visit;
  const words = voice.words.secrets;
  const action = urlOf('secret', { id });
  if (generated === null) {
    return html`<section class="panel" aria-labelledby="generate"><h2 id="generate">${words.generateTitle}</h2><p>${words.generateHint}</p>
<form class="form" method="post" action="${action}">${csrfField(visit)}<div class="row"><button class="primary" name="step" value="generate">${words.generate}</button></div></form></section>`;
  }
  return html`<section class="panel" aria-labelledby="generated"><h2 id="generated">${words.generatedTitle}</h2><p>${words.generatedHint}</p>
${secretOnce(generated, visit)}
<p class="small muted">${words.onlyNow}</p>
<form class="form" method="post" action="${action}" autocomplete="off">${csrfField(visit)}<input type="hidden" name="secret" value="${generated}" data-once>
<div class="row"><button class="primary" name="step" value="use">${words.use}</button><a href="${urlOf('endpoint', { id })}">${words.discard}</a></div></form></section>`;
}

function show(
  visit: Visit,
  { url }: WebhookEndpoint,
  {
    generated = null,
    isGone = false,
    problems = noProblems,
  }: {
    readonly generated?: string | null;
    /** True if the secret that the URL refers to was shown before, or its ticket has expired. */
    readonly isGone?: boolean;
    readonly problems?: Problems;
  } = {},
): ConsoleAnswer {
  const { id, urlOf, voice } = visit;
  const words = voice.words.secrets;
  const form = formOf({ secret: words.own }, problems, words.refused);
  const tag = html`<input type="password" required minlength="16" maxlength="256" autocomplete="new-password" spellcheck="false"`;
  return answerFramed(visit, {
    title: words.title,
    layout: 'one',
    status: form.status,
    body: html`${form.summary}${isGone ? noticeOf(words.gone, true) : null}
<section class="panel"><p><strong>${nameOf(url)}</strong></p><p>${words.underWay}</p><p>${words.overlap}</p>
<p><a href="${urlOf('endpoint', { id })}">${words.toEndpoint}</a></p></section>
${generatedPanel(visit, generated)}
<section class="panel"><h2>${words.ownTitle}</h2>
<form class="form" method="post" action="${urlOf('secret', { id })}">${csrfField(visit)}
${form.field({ name: 'secret', tag, hint: words.ownHint })}
<div class="row"><button name="step" value="use">${words.use}</button></div></form></section>`,
  });
}

/**
 * Shows the page that replaces the secret of an endpoint. With a ticket in the URL, shows a secret that was
 * just generated: a replacement on this page, the secret of a new endpoint on a page without forms. The
 * ticket works once, and only in the session that generated the secret.
 */
export async function secret(visit: Visit, session: string): Promise<ConsoleAnswer> {
  const { api, backend, id, request } = visit;
  const endpoint = await api('getWebhook', { path: { id } });
  const ticket = request.query.get('once');
  if (ticket === null || request.raw.method !== 'GET') return show(visit, endpoint);
  const kept = await backend.takeOnce(session, ticket);
  if (kept === null) return show(visit, endpoint, { isGone: true });
  const generated: GeneratedSecret = JSON.parse(kept);
  if (generated.purpose === 'new') return newSecretPage(visit, generated.secret);
  return show(visit, endpoint, { generated: generated.secret });
}

/**
 * Replaces the secret of an endpoint. An endpoint has a single secret, which signs every attempt that begins
 * more than a second after the change. A generated secret is therefore shown first, and a second step activates it once the partner's server knows
 * it. Once the page has shown the generated secret, only the page in the browser contains it.
 */
export async function changeSecret(
  visit: Visit,
  form: ReadonlyMap<string, string>,
  session: string,
): Promise<ConsoleAnswer> {
  const { api, backend, id, urlOf } = visit;
  const path = { id };
  const endpoint = await api('getWebhook', { path });
  if (form.get('step') === 'generate') {
    const generated = { purpose: 'replacement', secret: backend.newWebhookSecret() } as const;
    return seeOther(urlOf('secret', { id, once: await keepSecret(visit, session, generated) }));
  }
  try {
    await api('updateWebhook', { path, body: JSON.stringify({ secret: form.get('secret') ?? '' }) });
  } catch (error) {
    return show(visit, endpoint, { problems: problemsOf(visit.voice, error, ['secret']) });
  }
  return seeOther(urlOf('endpoint', { id, notice: 'secret_changed' }));
}
