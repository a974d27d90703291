import type { ConsoleAnswer, WebhookEndpoint } from '@ostiary/core/console';
import { fill, html } from '@ostiary/core/pages';
import { checkbox, formOf, type Message, noProblems, type Problems, problemsOf } from './forms.ts';
import { answerFramed, csrfField } from './frame.ts';
import { inboxOffer } from './inbox.ts';
import { keepSecret } from './secret.ts';
import { editedValue, isAsShown, shownField } from './shown-values.ts';
import { seeOther, type Visit } from './visit.ts';

/** Prefix of the checkbox names of event types; `*` stands for all types. */
const typeField = 'type ';

const memberNames = ['url', 'secret', 'events'];

/** Values of the endpoint form, except for the secret, which is never sent back. */
interface Filled {
  readonly url: string;
  readonly types: readonly string[];
}

/** Result of checking the endpoint form. */
interface Checked {
  readonly problems: Problems;
  /** Other endpoints of the partner with the same URL; empty if the form keeps the endpoint's URL. */
  readonly twins: readonly WebhookEndpoint[];
  /** True if the partner has confirmed that several endpoints should have this URL. */
  readonly isMeant: boolean;
  readonly secretTyped: boolean;
}

const unchecked: Checked = { problems: noProblems, twins: [], isMeant: false, secretTyped: false };

/** Returns the event types of an endpoint that still exist: the host application may have removed one. */
const knownTypes = ({ events }: WebhookEndpoint, { backend }: Visit): string[] =>
  ['*', ...backend.events.types].filter((type) => events.includes(type));

/** Returns the hint about the URLs that this installation accepts for endpoints. */
function urlHint(
  { allowsPrivateTargets }: Visit['backend'],
  { urlHint, urlHintPrivate, editUrlHint, editUrlHintPrivate }: Visit['voice']['words']['endpoints'],
  isNew: boolean,
): string {
  if (isNew) return allowsPrivateTargets ? urlHintPrivate : urlHint;
  return allowsPrivateTargets ? editUrlHintPrivate : editUrlHint;
}

/** Shows the form for an endpoint. If `endpoint` is `null`, the form is for a new endpoint. */
function show(
  visit: Visit,
  endpoint: WebhookEndpoint | null,
  { url, types }: Filled,
  { problems, twins, isMeant, secretTyped }: Checked = unchecked,
): ConsoleAnswer {
  const { backend, urlOf, voice } = visit;
  const words = voice.words.endpoints;
  const isNew = endpoint === null;
  const form = formOf(
    { url: words.url, secret: words.secret, events: words.types },
    problems,
    isNew ? words.refused : words.editRefused,
  );
  const urlTag = html`<input type="url" required maxlength="2048" value="${url.slice(0, 2048)}" placeholder="https://" spellcheck="false" autocapitalize="none"`;
  const secretTag = html`<input type="password" minlength="16" maxlength="256" autocomplete="new-password" spellcheck="false"`;
  const anyway = {
    name: 'anyway',
    value: String(twins.length),
    label: isNew ? words.anyway : words.saveAnyway,
    isChecked: isMeant,
  };
  const options = ['*', ...backend.events.types].map((type) => ({
    name: `${typeField}${type}`,
    label: type === '*' ? words.allTypes : html`<code>${type}</code>`,
    isChecked: types.includes(type),
  }));
  const back = isNew ? urlOf('home') : urlOf('endpoint', { id: endpoint.id });
  return answerFramed(visit, {
    title: isNew ? words.addTitle : words.editTitle,
    layout: 'one',
    status: form.status,
    body: html`${form.summary}
<section class="panel"><form class="form" method="post" action="${isNew ? urlOf('endpoints') : urlOf('editEndpoint', { id: endpoint.id })}">${csrfField(visit)}${isNew ? null : shownField(shownOf(endpoint, visit))}
${form.field({
  name: 'url',
  tag: urlTag,
  hint: urlHint(backend, words, isNew),
  below: twins.length === 0 ? null : checkbox(anyway),
})}
${isNew ? form.field({ name: 'secret', tag: secretTag, hint: secretTyped ? words.secretAgain : words.secretHint }) : null}
${form.choices({ name: 'events', options })}
<div class="row"><button class="primary">${isNew ? words.add : words.save}</button><a href="${back}">${voice.words.cancel}</a></div>
</form></section>${isNew && visit.mode === 'test' ? inboxOffer(visit) : null}`,
  });
}

function filledIn({ backend }: Visit, form: ReadonlyMap<string, string>): Filled {
  return {
    url: (form.get('url') ?? '').trim(),
    types: ['*', ...backend.events.types].filter((type) => form.has(`${typeField}${type}`)),
  };
}

const eventsOf = ({ types }: Filled): readonly string[] => (types.includes('*') ? ['*'] : types);

/** Returns the canonical form of a URL, as the API stores it. */
const canonical = (url: string): string => URL.parse(url)?.href ?? url;

/**
 * Makes the checks of an endpoint form that precede the API call: whether another endpoint has this URL,
 * which the API would allow, and whether a type is selected.
 */
async function check(
  { api, urlOf, voice }: Visit,
  endpoint: WebhookEndpoint | null,
  { url, types }: Filled,
  form: ReadonlyMap<string, string>,
): Promise<Checked> {
  const words = voice.words.endpoints;
  const { data } = await api('listWebhooks');
  const isSame = (other: WebhookEndpoint): boolean => canonical(other.url) === canonical(url);
  const stays = endpoint !== null && isSame(endpoint);
  const twins = stays ? [] : data.filter(isSame);
  // Confirming a second endpoint does not confirm a third: reloading the page sends the form again.
  const isMeant = form.get('anyway') === String(twins.length);
  const problems = new Map<string, readonly Message[]>();
  const [twin] = twins;
  if (twin !== undefined && !isMeant) {
    const link = html`<a href="${urlOf('endpoint', { id: twin.id })}"><code>${twin.id}</code></a>`;
    problems.set('url', [fill(voice.language, words.twin, { id: link })]);
  }
  // HTML cannot require one of several checkboxes, so the browser does not report this mistake.
  if (types.length === 0) problems.set('events', [words.badTypes]);
  return { problems, twins, isMeant, secretTyped: (form.get('secret') ?? '') !== '' };
}

/** Shows the form for a new endpoint. */
export async function newEndpoint(visit: Visit): Promise<ConsoleAnswer> {
  return show(visit, null, { url: '', types: ['*'] });
}

/** Registers an endpoint. If the form has no secret, one is generated, and the next page shows it once. */
export async function addEndpoint(
  visit: Visit,
  form: ReadonlyMap<string, string>,
  session: string,
): Promise<ConsoleAnswer> {
  const { api, backend, mode, urlOf } = visit;
  const filled = filledIn(visit, form);
  const checked = await check(visit, null, filled, form);
  if (checked.problems.size > 0) return show(visit, null, filled, checked);
  const typed = form.get('secret') ?? '';
  const secret = typed === '' ? backend.newWebhookSecret() : typed;
  // Kept before the endpoint exists, so that no endpoint has a secret that was never shown.
  const once = typed === '' ? await keepSecret(visit, session, { purpose: 'new', secret }) : null;
  try {
    const body = JSON.stringify({ url: filled.url, secret, events: eventsOf(filled) });
    const { id } = await api('createWebhook', { body });
    if (once !== null) return seeOther(urlOf('secret', { id, once, notice: 'endpoint_added' }));
    const next = mode === 'test' ? 'receiver' : 'endpoint';
    return seeOther(urlOf(next, { id, notice: 'endpoint_added' }));
  } catch (error) {
    return show(visit, null, filled, { ...checked, problems: problemsOf(visit.voice, error, memberNames) });
  }
}

/** Shows the form for an existing endpoint. */
export async function editEndpoint(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id } = visit;
  const endpoint = await api('getWebhook', { path: { id } });
  return show(visit, endpoint, { url: endpoint.url, types: knownTypes(endpoint, visit) });
}

/** Returns the values of an endpoint that its form shows. */
const shownOf = (endpoint: WebhookEndpoint, visit: Visit) => ({
  url: canonical(endpoint.url),
  types: knownTypes(endpoint, visit),
});

/**
 * Reads the form for an existing endpoint. Values that the form showed are replaced by the endpoint's own,
 * which the partner's programs may have changed while the form was open.
 */
function changesIn(visit: Visit, endpoint: WebhookEndpoint, form: ReadonlyMap<string, string>): Filled {
  const { url, types } = filledIn(visit, form);
  const taken = editedValue(form, 'types', { submitted: types, stored: knownTypes(endpoint, visit) });
  return {
    url: isAsShown(form, 'url', canonical(url)) ? endpoint.url : url,
    types: ['*', ...visit.backend.events.types].filter(
      (type) => Array.isArray(taken) && taken.includes(type),
    ),
  };
}

/** Saves the changed settings of an endpoint. Settings that were not changed are not sent. */
export async function saveEndpoint(visit: Visit, form: ReadonlyMap<string, string>): Promise<ConsoleAnswer> {
  const { api, id, urlOf } = visit;
  const path = { id };
  const endpoint = await api('getWebhook', { path });
  const filled = changesIn(visit, endpoint, form);
  const checked = await check(visit, endpoint, filled, form);
  if (checked.problems.size > 0) return show(visit, endpoint, filled, checked);
  const events = eventsOf(filled);
  const changes = {
    ...(canonical(filled.url) !== canonical(endpoint.url) && { url: filled.url }),
    ...(String(events) !== String(knownTypes(endpoint, visit)) && { events }),
  };
  try {
    if (Object.keys(changes).length > 0) await api('updateWebhook', { path, body: JSON.stringify(changes) });
  } catch (error) {
    return show(visit, endpoint, filled, {
      ...checked,
      problems: problemsOf(visit.voice, error, memberNames),
    });
  }
  return seeOther(urlOf('endpoint', { id, notice: 'endpoint_saved' }));
}
