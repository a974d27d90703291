import type { ConsoleAnswer } from '@ostiary/core/console';
import { fillText, type Html, html, icons, nameOf } from '@ostiary/core/pages';
import type { ShownDelivery } from './api.ts';
import { failureKind } from './delivery.ts';
import { answerFramed, csrfField } from './frame.ts';
import { copyButton, snippet } from './snippets.ts';
import { isVerifier, type VerifierName, verifierSource, verifiers } from './verifiers.ts';
import { seeOther, type Visit } from './visit.ts';

/** Number of latest deliveries that are searched for an accepted one. */
const searchedDeliveries = '25';

/** Shows the step that waits for the first event, with a tick once the event was accepted. */
const step = (isDone: boolean, text: Html): Html =>
  html`<ol class="steps"><li><span class="tick ${isDone ? 'done' : ''}" aria-hidden="true">${isDone ? icons.check : '1'}</span><div>${text}</div></li></ol>`;

/**
 * Shows whether the first event has arrived: the page waits for it, it was accepted, or the reason why the
 * last attempt of the newest failed delivery failed.
 */
function arrival(
  latest: readonly ShownDelivery[],
  { voice }: Visit,
): { readonly said: string; readonly part: Html } {
  const { deliveries, failures, receiver: words } = voice.words;
  const accepted = latest.find(({ status }) => status === 'delivered');
  if (accepted !== undefined) {
    const type = html`<code>${nameOf(accepted.eventType)}</code>`;
    const part = step(true, html`<p><strong>${words.arrived}</strong> ${type}</p>`);
    return { said: words.arrived, part };
  }
  const waiting = html`<p><strong>${words.waiting}</strong></p>`;
  const failed = latest.find(({ attempts }) => attempts.some(({ error }) => error !== null));
  const attempt = failed?.attempts.findLast(({ error }) => error !== null);
  if (attempt === undefined) return { said: words.waiting, part: step(false, waiting) };
  const { advice, what } = failures[failureKind(attempt, voice.words)];
  const story = html`${waiting}<p>${what}</p><p class="advice"><b>${deliveries.whatToDo}</b> ${advice}</p>`;
  return { said: what, part: step(false, story) };
}

function chosenVerifier({ request }: Visit): VerifierName {
  const name = request.query.get('for');
  return isVerifier(name) ? name : 'express';
}

/** Makes links to the receiver code for all frameworks and languages. */
function verifierLinks({ id, urlOf, voice }: Visit, chosen: VerifierName): Html {
  const link = ([name, { label }]: [string, { readonly label: string }]): Html => {
    const href = urlOf('receiver', { id, for: name });
    return name === chosen
      ? html`<a href="${href}" aria-current="true">${label}</a>`
      : html`<a href="${href}">${label}</a>`;
  };
  return html`<nav class="choices" aria-label="${voice.words.receiver.languages}">${Object.entries(verifiers).map(link)}</nav>`;
}

/** Shows how a partner's server receives the events of an endpoint, and whether the first one has arrived. */
export async function receiver(visit: Visit): Promise<ConsoleAnswer> {
  const { api, backend, id, urlOf, voice } = visit;
  const { language, words } = voice;
  const endpoint = await api('getWebhook', { path: { id } });
  const { data: latest } = await api('listDeliveries', {
    path: { id },
    query: { limit: searchedDeliveries },
  });
  const { part, said } = arrival(latest, visit);
  const chosen = chosenVerifier(visit);
  const { calls, install, label } = verifiers[chosen];
  const environment = `WEBHOOK_SECRET="${words.receiver.secretPlace}"`;
  return answerFramed(visit, {
    title: words.receiver.title,
    layout: 'main-first',
    crumbs: [[urlOf('endpoint', { id }), endpoint.url]],
    said,
    body: html`<section class="panel" aria-labelledby="verifier"><h2 id="verifier">${words.receiver.code}</h2>
${verifierLinks(visit, chosen)}
${install === null ? null : snippet(voice, words.receiver.install, install)}
${snippet(voice, label, verifierSource(chosen, backend.prefix))}
${calls.map(([framework, call]) => snippet(voice, fillText(language, words.receiver.call, { framework }), call))}</section>
<div class="column"><section class="panel" aria-labelledby="arrival"><h2 id="arrival">${words.receiver.first}</h2>
<div id="arrival-state" data-live>${part}</div>
<form method="post" action="${urlOf('receiver', { id })}">${csrfField(visit)}<button class="primary">${words.inbox.send}</button></form></section>
<section class="panel" aria-labelledby="environment"><h2 id="environment">.env</h2><div class="snippet"><div class="head"><code>${environment}</code>${copyButton(voice, '.env', environment)}</div></div>
<p class="small muted">${words.receiver.secretHint} <a href="${urlOf('secret', { id })}">${words.endpoints.rotate}</a></p>
<p class="small muted">${words.receiver.local} <code>npx @ostiary/listen --to localhost:4000/webhooks</code></p>
<p><a href="${urlOf('endpoint', { id })}">${nameOf(endpoint.url)}</a></p></section></div>`,
  });
}

/** Triggers a test event for all endpoints that subscribe to it; the page of one shows whether it arrives. */
export async function sendFirstEvent(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, urlOf } = visit;
  await api('getWebhook', { path: { id } });
  await api('createSandboxEvent', { body: JSON.stringify({ type: 'webhook.test' }) });
  return seeOther(urlOf('receiver', { id, notice: 'sent' }));
}
