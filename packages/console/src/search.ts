import { type ConsoleAnswer, PartnerError } from '@ostiary/core/console';
import { fill, html, nameOf } from '@ostiary/core/pages';
import { queryOf } from './api.ts';
import { answerFramed, problemRow } from './frame.ts';
import { seeOther, type Visit } from './visit.ts';

/**
 * Returns the result of an API call; `null` if the partner has no such object, or the key may not read it.
 */
async function found<Done>(call: Promise<Done>): Promise<Done | null> {
  try {
    return await call;
  } catch (error) {
    const isRefused = error instanceof PartnerError && error.status >= 400 && error.status < 500;
    if (isRefused && error.code !== 'rate_limit_exceeded') return null;
    throw error;
  }
}

/** Returns the URL of the partner's object with an id whose beginning names the kind of object; `null` if there is none. */
async function objectOf({ api, urlOf }: Visit, id: string): Promise<string | null> {
  const path = { id };
  const kind = /^[a-z]{2,3}(?=_)/.exec(id)?.[0];
  if (kind === 'evt') return (await found(api('getEvent', { path }))) && urlOf('event', { id });
  if (kind === 'we') return (await found(api('getWebhook', { path }))) && urlOf('endpoint', { id });
  if (kind === 'tr') return (await found(api('getPayment', { path }))) && urlOf('payment', { id });
  if (kind === 'dl') {
    const delivery = await found(api('getDelivery', { path }));
    return delivery && `${urlOf('event', { id: delivery.eventId })}#${id}`;
  }
  return null;
}

/**
 * Returns the URL of the partner's object with an id, or of the payment with a reference, which may begin like an id;
 * `null` if there is none. All calls are made for the session, so that objects of other partners and of the other
 * mode are not found.
 */
async function placeOf(visit: Visit, id: string): Promise<string | null> {
  const { api, urlOf } = visit;
  const path = { id };
  const object = await objectOf(visit, id);
  if (object !== null) return object;
  const [request, payments] = await Promise.all([
    found(api('getRequest', { path })),
    found(api('listPayments', { query: queryOf({ reference: id }) })),
  ]);
  if (request !== null) return urlOf('request', { id });
  const payment = payments?.data[0];
  return payment === undefined ? null : urlOf('payment', { id: payment.id });
}

/**
 * Redirects to the page of the object whose id was typed. If there is no such object, shows a page that says
 * so.
 */
export async function search(visit: Visit): Promise<ConsoleAnswer> {
  const { backend, request, urlOf, voice } = visit;
  const words = voice.words.search;
  const typed = (request.query.get('q') ?? '').replaceAll('\0', '').trim().slice(0, 200);
  const isSecret = new RegExp(`^(?:${backend.prefix}_(?:live|test|sign)_|whsec_)`).test(typed);
  const place = typed === '' || isSecret ? null : await placeOf(visit, typed);
  if (place !== null) return seeOther(place);
  const shown = isSecret ? '' : typed;
  const nothing = fill(voice.language, words.nothing, { text: html`<strong>${nameOf(shown)}</strong>` });
  return answerFramed(visit, {
    title: words.title,
    layout: 'one',
    typed: shown,
    status: isSecret ? 400 : 200,
    body: html`${isSecret ? problemRow(words.secret) : null}
<section class="panel" aria-label="${words.title}">${shown === '' ? null : html`<p>${nothing}</p>`}<p class="muted">${words.whatPartner}</p><p><a href="${urlOf('home')}">${voice.words.back}</a></p></section>`,
  });
}
