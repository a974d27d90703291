import {
  type ConsoleAnswer,
  type InboxRequest,
  PartnerError,
  type WebhookEndpoint,
} from '@ostiary/core/console';
import { fill, fillText, type Html, html, icons, nameOf } from '@ostiary/core/pages';
import { failureKind } from './delivery.ts';
import { answerFramed, csrfField } from './frame.ts';
import { choiceField, counted, emptyList, facts, foreignText, moment, stateBadge } from './parts.ts';
import { seeOther, type Visit } from './visit.ts';
import type { Voice, Words } from './words.ts';

/**
 * URLs of inboxes, each for a way in which the inbox responds: with status 200, with status 500, or not in
 * time.
 */
const behaviours = ['inbox:200', 'inbox:500', 'inbox:timeout'] as const;

/** Checks whether an endpoint is an inbox of the service. */
export const isInbox = ({ url }: { readonly url: string }): boolean => url.startsWith('inbox:');

/**
 * Makes the form that registers an inbox of the service as an endpoint, in place of a partner's own server.
 */
export function inboxOffer(visit: Visit): Html {
  const { urlOf, voice } = visit;
  const words = voice.words.inbox;
  return html`<section class="panel" aria-labelledby="inbox-offer"><h2 id="inbox-offer">${words.offerTitle}</h2><p>${words.offer}</p>
<form method="post" action="${urlOf('inboxes')}">${csrfField(visit)}<button class="primary">${words.use}</button></form></section>`;
}

/** Registers an inbox with a generated secret, for events of all types. */
export async function addInbox({ api, backend, urlOf }: Visit): Promise<ConsoleAnswer> {
  const body = JSON.stringify({ url: behaviours[0], secret: backend.newWebhookSecret(), events: ['*'] });
  const { id } = await api('createWebhook', { body });
  return seeOther(urlOf('inbox', { id, notice: 'inbox_added' }));
}

/** Returns the event type in the body of a request to an inbox; '' if the body has none, or is not JSON. */
function typeOf({ body }: InboxRequest): string {
  try {
    return String(JSON.parse(body).type ?? '');
  } catch {
    return '';
  }
}

function signatureBadge({ signatureError }: InboxRequest, { inbox: words }: Words): Html {
  return signatureError === null
    ? stateBadge('delivered', words.valid)
    : stateBadge('dropped', words.invalid);
}

/** Returns words that describe the inbox's response to a request. */
function answerWords({ answer }: InboxRequest, { language, words }: Voice): string {
  if (answer === null) return words.inbox.unanswered;
  const { httpStatus: status } = answer;
  if (status !== null) return fillText(language, words.inbox.answered, { status: String(status) });
  return words.failures[failureKind(answer, words)].what;
}

function requestRow(request: InboxRequest, { urlOf, voice }: Visit): Html {
  const { id, receivedAt } = request;
  const { language, words } = voice;
  return html`<li id="${id}"><p class="what"><a href="${urlOf('inboxRequest', { id })}">${nameOf(typeOf(request))} <span class="hidden">${id}</span></a> <span>${moment(receivedAt, language)} · ${answerWords(request, voice)}</span></p>${signatureBadge(request, words)}</li>`;
}

function behaviourForm(visit: Visit, id: string, url: string): Html {
  const { urlOf, voice } = visit;
  const words = voice.words.inbox;
  const options = behaviours.map((one) => [one, words.behaviours[one]] as const);
  return html`<section class="panel" aria-labelledby="behaviour"><h2 id="behaviour">${words.behaviour}</h2><p class="small muted">${words.behaviourHint}</p>
<form class="form" method="post" action="${urlOf('inbox', { id })}">${csrfField(visit)}
${choiceField({ label: words.answers, name: 'url', options, chosen: url })}
<div class="row"><button class="compact">${voice.words.endpoints.save}</button></div></form></section>`;
}

function testForm(visit: Visit, id: string): Html {
  const { urlOf, voice } = visit;
  const words = voice.words.inbox;
  return html`<form method="post" action="${urlOf('inbox', { id })}">${csrfField(visit)}<button class="primary" name="send" value="yes">${words.send}</button></form>`;
}

/** Returns the endpoint that the path names. @throws PartnerError `not_found` if it is no inbox */
async function inboxOf({ api, id }: Visit): Promise<WebhookEndpoint> {
  const endpoint = await api('getWebhook', { path: { id } });
  if (isInbox(endpoint)) return endpoint;
  throw new PartnerError('not_found', { description: 'The endpoint is no inbox.' });
}

/** Shows the last requests that arrived in the inbox of an endpoint, newest first. */
export async function inbox(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, urlOf, voice } = visit;
  const { words } = voice;
  const endpoint = await inboxOf(visit);
  const { data } = await api('listInboxRequests', { path: { id } });
  const [newest] = data;
  const list =
    newest === undefined
      ? emptyList(words.inbox.emptyTitle, words.inbox.empty, icons.plug)
      : html`<ul class="rows">${data.map((request) => requestRow(request, visit))}</ul>`;
  const isListener = endpoint.url === 'inbox:listen';
  return answerFramed(visit, {
    title: words.inbox.title,
    layout: 'main-first',
    crumbs: [[urlOf('endpoint', { id }), endpoint.url]],
    said: newest === undefined ? words.inbox.emptyTitle : `${typeOf(newest)}: ${answerWords(newest, voice)}`,
    body: html`<section class="panel" aria-labelledby="inbox-requests"><div class="head"><h2 id="inbox-requests">${words.inbox.last}</h2>${testForm(visit, id)}</div>
<div id="inbox-list" data-live>${list}</div></section>
<div class="column">${isListener ? html`<section class="panel"><p>${words.inbox.listened}</p></section>` : behaviourForm(visit, id, endpoint.url)}
<section class="panel"><p class="small muted">${words.inbox.kept}</p><p><a href="${urlOf('endpoint', { id })}">${words.secrets.toEndpoint}</a></p></section></div>`,
  });
}

/** Handles the forms on the page of an inbox, which change how the inbox responds, or send a test event. */
export async function changeInbox(visit: Visit, form: ReadonlyMap<string, string>): Promise<ConsoleAnswer> {
  const { api, urlOf } = visit;
  const { id } = await inboxOf(visit);
  if (form.has('send')) {
    await api('createSandboxEvent', { body: JSON.stringify({ type: 'webhook.test' }) });
    return seeOther(urlOf('inbox', { id, notice: 'sent' }));
  }
  const url = behaviours.find((one) => one === form.get('url'));
  if (url === undefined)
    throw new PartnerError('invalid_request', { description: 'The answer must be one of the list.' });
  await api('updateWebhook', { path: { id }, body: JSON.stringify({ url }) });
  return seeOther(urlOf('inbox', { id, notice: 'endpoint_saved' }));
}

/** Shows a request that arrived in an inbox: the signature check, the response, all headers and the body. */
export async function inboxRequest(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, urlOf, voice } = visit;
  const { language, words } = voice;
  const request = await api('getInboxRequest', { path: { id } });
  const { body, endpointId, headers, method, receivedAt, signatureError } = request;
  const bytes = counted(Buffer.byteLength(body), language);
  const lines = headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
  return answerFramed(visit, {
    title: typeOf(request),
    layout: 'main-first',
    crumbs: [[urlOf('inbox', { id: endpointId }), words.inbox.title]],
    body: html`<div class="column"><section class="panel"><h2>${words.inbox.headers}</h2>${foreignText(lines, words.inbox.headers)}</section>
<section class="panel"><h2>${fill(language, words.inbox.body, { bytes })}</h2>${foreignText(body, fillText(language, words.inbox.body, { bytes }))}</section></div>
<section class="panel">${facts([
      [
        words.inbox.signature,
        html`${signatureBadge(request, words)}${signatureError === null ? null : html` <code>${nameOf(signatureError)}</code>`}`,
      ],
      [words.inbox.method, method],
      [words.requests.time, moment(receivedAt, language)],
      [words.inbox.answers, answerWords(request, voice)],
      [words.requests.id, html`<code>${nameOf(id)}</code>`],
    ])}<p><a href="${urlOf('inbox', { id: endpointId })}">${words.inbox.title}</a></p></section>`,
  });
}
