import { type ConsoleAnswer, type LoggedRequest, PartnerError } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { placeOf, queryOf } from './api.ts';
import { formOf, noProblems, type Problems } from './forms.ts';
import { answerFramed } from './frame.ts';
import { timeOrders } from './list-order.ts';
import { emptyList, facts, filterForm, foreignText, moment, stateBadge } from './parts.ts';
import { apiSnippets } from './snippets.ts';
import { aroundPage, perPage } from './two-way.ts';
import { seeOther, type Visit } from './visit.ts';

const statusBadge = ({ status }: LoggedRequest): Html =>
  stateBadge(status < 400 ? 'delivered' : 'dropped', String(status));

const nameOfRequest = ({ method, route }: LoggedRequest): Html =>
  html`<code>${method} ${nameOf(route)}</code>`;

function requestRow(request: LoggedRequest, { urlOf, voice }: Visit): Html {
  const { id, code, createdAt, durationMs } = request;
  return html`<li id="${id}"><p class="what"><a href="${urlOf('request', { id })}">${nameOfRequest(request)} <span class="hidden">${id}</span></a> <span>${moment(createdAt, voice.language)} · ${durationMs} ms${code === null ? null : html` · <code>${nameOf(code)}</code>`}</span></p>${statusBadge(request)}</li>`;
}

/**
 * Makes the form that finds a logged API request by its request id. `id` is the typed text if no such request
 * exists, or ''.
 */
function searchForm({ urlOf, voice }: Visit, id: string): Html {
  const words = voice.words.requests;
  const problems: Problems = id === '' ? noProblems : new Map([['id', [words.notFound]]]);
  const tag = html`<input value="${id}" maxlength="100" required spellcheck="false" autocapitalize="none"`;
  return html`<form class="form" method="get" action="${urlOf('requests')}">
${formOf({ id: words.id }, problems, '').field({ name: 'id', tag, hint: words.idHint })}
<div class="row"><button class="compact">${words.find}</button></div></form>`;
}

/**
 * Shows the logged API requests that were made with the partner's keys of the page's mode (test or live),
 * sorted by time. Redirects to a request if the query has its id.
 */
export async function requests(visit: Visit): Promise<ConsoleAnswer> {
  const { api, mode, request, urlOf, voice } = visit;
  const words = voice.words.requests;
  const id = request.query.get('id')?.trim().slice(0, 100) ?? '';
  if (id !== '' && (await find(visit, id)) !== null) return seeOther(urlOf('request', { id }));
  const only = request.query.get('only');
  const chosen = only === 'failed' ? only : null;
  const failed = queryOf({ failed: chosen === null ? null : 'true' });
  const query = { ...failed, ...placeOf(request.query), limit: String(perPage) };
  const { data, nextCursor: next, previousCursor: previous, count } = await api('listRequests', { query });
  const empty =
    chosen === null
      ? emptyList(words.emptyTitle, mode === 'live' ? words.emptyLive : words.empty)
      : html`<p class="muted">${voice.words.nothingFits}</p>`;
  const filter = filterForm(voice, {
    ...{ action: urlOf('requests'), query: request.query },
    name: 'only',
    all: words.all,
    options: [['failed', words.failed]],
    chosen,
  });
  const { head, links } = aroundPage(
    { query: request.query, voice },
    {
      ...{ shown: data.length, count, next, previous, orders: timeOrders },
      urlOf: (place) => urlOf('requests', { only: chosen, ...place }),
    },
  );
  const [newest] = data;
  const said = newest === undefined ? words.emptyTitle : `${newest.method} ${newest.route}: ${newest.status}`;
  return answerFramed(visit, {
    title: words.title,
    layout: 'main-first',
    section: 'requests',
    isFirst: true,
    status: id === '' ? 200 : 404,
    said,
    body: html`<section class="panel" aria-labelledby="requests"><div class="head"><h2 id="requests">${words.last}</h2>${filter}</div>
<div id="request-list" data-live>${
      data.length === 0
        ? empty
        : html`${head}
<ul class="rows">${data.map((one) => requestRow(one, visit))}</ul>
${links}`
    }</div></section>
<div class="column"><section class="panel">${searchForm(visit, id)}
<p class="small muted">${mode === 'live' ? words.keptLive : words.kept}</p></section></div>`,
  });
}

async function find({ api }: Visit, id: string): Promise<LoggedRequest | null> {
  try {
    return await api('getRequest', { path: { id } });
  } catch (error) {
    if (error instanceof PartnerError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Formats a JSON body with line breaks. A body that was cut is returned unchanged. */
function bodyText(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** Parses the JSON body of a logged request; `undefined` if it was cut. */
function jsonOf(sent: string | null): unknown {
  if (sent === null) return null;
  try {
    return JSON.parse(sent);
  } catch {
    return undefined;
  }
}

/** Shows code that repeats a logged request, as curl and as a program. */
function repetition({ method, route, sent }: LoggedRequest, { backend, voice }: Visit): Html | null {
  const words = voice.words.snippets;
  const body = jsonOf(sent);
  const known = backend.routes.find((candidate) => candidate.method === method && candidate.path === route);
  // An older version of the service may have logged a route that no longer exists.
  if (known === undefined) return null;
  const call = { operation: known.operation, id: null, body };
  return html`<section class="panel" aria-labelledby="calls"><h2 id="calls">${words.title}</h2>${
    body === undefined
      ? html`<p class="muted">${words.cut}</p>`
      : html`${apiSnippets(backend, voice, { id: 'call-repeat', title: words.repeat, call })}<p class="small muted">${words.repeatHint}</p>`
  }</section>`;
}

/** Shows the page of a logged API request: its time, its result, request and response. */
export async function request(visit: Visit): Promise<ConsoleAnswer> {
  const { api, id, mode, voice } = visit;
  const { words, language } = voice;
  const found = await api('getRequest', { path: { id } });
  const none = mode === 'live' ? words.requests.noBodyLive : words.requests.noBody;
  const body = (name: string, text: string | null): Html =>
    html`<section class="panel"><h2>${name}</h2>${text === null ? html`<p class="muted">${none}</p>` : foreignText(bodyText(text), name)}</section>`;
  return answerFramed(visit, {
    title: `${found.method} ${found.route}`,
    layout: 'main-first',
    section: 'requests',
    body: html`<div class="column">${body(words.requests.sent, found.sent)}${body(words.requests.answered, found.answered)}${repetition(found, visit)}</div>
<section class="panel">${facts([
      [
        words.requests.status,
        html`${statusBadge(found)}${found.code === null ? null : html` <code>${nameOf(found.code)}</code>`}`,
      ],
      [words.requests.time, moment(found.createdAt, language)],
      [words.requests.duration, `${found.durationMs} ms`],
      [words.requests.id, html`<code>${nameOf(found.id)}</code>`],
      [words.requests.key, html`<code>${nameOf(found.keyId)}</code>`],
    ])}${mode === 'live' ? null : html`<p class="small muted">${words.requests.removed}</p>`}</section>`,
  });
}
