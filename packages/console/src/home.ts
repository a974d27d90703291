import type { ConsoleAnswer, WebhookEndpoint } from '@ostiary/core/console';
import { type Html, html, icons, nameOf } from '@ostiary/core/pages';
import { eventAsked, eventsPanel } from './events.ts';
import { firstRun } from './first-run.ts';
import { answerFramed, csrfField } from './frame.ts';
import { obstacleNotice } from './obstacles.ts';
import { choiceField, emptyList, enabledBadge } from './parts.ts';
import { seeOther, type Visit } from './visit.ts';
import type { Words } from './words.ts';

/** Formats the event types of an endpoint. */
export function typesOf(
  { events }: { readonly events: readonly string[] },
  { endpoints: words }: Words,
): string {
  return events.includes('*') ? words.allTypes : events.join(', ');
}

function endpointList(endpoints: readonly WebhookEndpoint[], { urlOf, voice }: Visit): Html {
  const words = voice.words.endpoints;
  if (endpoints.length === 0) return emptyList(words.emptyTitle, words.empty, icons.plug);
  const row = (endpoint: WebhookEndpoint): Html => {
    const { id, url, enabled } = endpoint;
    return html`<li id="${id}"><p class="what"><a href="${urlOf('endpoint', { id })}">${nameOf(url)}</a> <span>${typesOf(endpoint, voice.words)}</span></p>${enabledBadge(enabled, words)}</li>`;
  };
  return html`<ul class="rows">${endpoints.map(row)}</ul>`;
}

function triggerForm(visit: Visit): Html {
  const { backend, urlOf, voice } = visit;
  const words = voice.words.trigger;
  const [first = ''] = backend.events.types;
  const types = backend.events.types.map((type) => [type, type] as const);
  return html`<section class="panel" aria-labelledby="trigger"><h2 id="trigger">${words.title}</h2>
<p class="small muted">${words.intro}</p>
<form class="form" method="post" action="${urlOf('trigger')}">${csrfField(visit)}
${choiceField({ label: words.type, name: 'type', options: types, chosen: first })}
<div class="row"><button class="primary" name="step" value="send">${words.send}</button><button name="step" value="edit">${words.edit}</button></div>
</form></section>`;
}

/**
 * Shows the first page of the console: endpoints, events and, in test mode, a form for a test event.
 * Redirects to the page of an event if the query has the event's id.
 */
export async function home(visit: Visit, session: string): Promise<ConsoleAnswer> {
  const { api, mayManage, mode, urlOf, voice } = visit;
  const { words } = voice;
  const asked = await eventAsked(visit);
  if (asked !== null) return seeOther(asked);
  const { data: endpoints } = await api('listWebhooks');
  const { panel, said, isRefused } = await eventsPanel(visit, endpoints);
  const { data: obstacles } = await api('getWebhookObstacles');
  const isTest = mode === 'test';
  // In test mode the first steps say that an endpoint is missing.
  const known = obstacles.filter(({ reason }) => !isTest || reason !== 'no_endpoint');
  return answerFramed(visit, {
    title: isTest ? words.title : words.portal.title,
    layout: 'aside-first',
    isFirst: true,
    status: isRefused ? 400 : 200,
    said,
    body: html`<div class="across live-part" id="obstacles" data-live>${obstacleNotice(known, voice)}</div>
${isTest ? await firstRun(visit, session) : null}
<div class="column">
<section class="panel" aria-labelledby="endpoints"><div class="head"><h2 id="endpoints">${words.endpoints.title}</h2>${mayManage ? html`<a href="${urlOf('endpoints')}">${words.endpoints.add}</a>` : null}</div>
<div id="endpoint-list" data-live>${endpointList(endpoints, visit)}</div></section>
${isTest ? triggerForm(visit) : null}
</div>
${panel}`,
  });
}
