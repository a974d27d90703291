import type { Language } from '../../scopes.ts';
import { type Html, html, nameOf } from '../html.ts';
import { icons } from '../icons.ts';
import { type ConsoleContext, type ConsolePage, consolePage, csrfField } from './frame.ts';
import { moment, pageLinks, type StateCounts, stateBadge, stateBadges, stateWords } from './parts.ts';
import { consoleWords } from './text.ts';

/** An endpoint in the list. */
export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly enabled: boolean;
  /** Types of events, or `*` alone. */
  readonly types: readonly string[];
  readonly href: string;
}

/** An event in the list, with what became of its latest deliveries. */
export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  readonly href: string;
  readonly counts: StateCounts;
  /** Whether there are older deliveries, which are not counted. */
  readonly hasOlder: boolean;
}

/** What a partner sees first. */
export interface OverviewView extends ConsoleContext {
  readonly endpoints: readonly EndpointRow[];
  readonly types: readonly string[];
  /** Newest first. */
  readonly events: readonly EventRow[];
  readonly newerUrl: string | null;
  readonly olderUrl: string | null;
}

/** The types that an endpoint takes, in words. */
export function typesOf(types: readonly string[], language: Language): string {
  return types.includes('*') ? consoleWords[language].endpoints.allTypes : types.join(', ');
}

function endpointList({ endpoints, language }: OverviewView): Html {
  const words = consoleWords[language].endpoints;
  if (endpoints.length === 0) {
    return html`<div class="empty"><span class="disc">${icons.plug}</span><h3>${words.emptyTitle}</h3><p class="muted">${words.empty}</p></div>`;
  }
  const row = ({ id, url, enabled, types, href }: EndpointRow): Html =>
    html`<li id="${id}"><p class="what"><a href="${href}">${nameOf(url)}</a> <span>${typesOf(types, language)}</span></p>${stateBadge(enabled ? 'enabled' : 'disabled', enabled ? words.enabled : words.disabled)}</li>`;
  return html`<ul class="rows">${endpoints.map(row)}</ul>`;
}

function eventList({ events, language, newerUrl, olderUrl }: OverviewView): Html {
  const words = consoleWords[language].events;
  if (events.length === 0) {
    return html`<div class="empty"><span class="disc">${icons.bell}</span><h3>${words.emptyTitle}</h3><p class="muted">${words.empty}</p></div>`;
  }
  const andOlder = html`<span class="small muted">${consoleWords[language].deliveries.andOlder}</span>`;
  const row = ({ id, type, createdAt, href, counts, hasOlder }: EventRow): Html =>
    html`<li id="${id}"><p class="what"><a href="${href}">${nameOf(type)} <span class="hidden">${id}</span></a> <span>${moment(createdAt, language)}</span></p>${stateBadges(counts, language)}${hasOlder ? andOlder : null}</li>`;
  return html`<ul class="rows">${events.map(row)}</ul>
${pageLinks([
  { href: newerUrl, words: words.newer },
  { href: olderUrl, words: words.older },
])}`;
}

function triggerForm(view: OverviewView): Html {
  const words = consoleWords[view.language].trigger;
  return html`<section class="panel" aria-labelledby="trigger"><h2 id="trigger">${words.title}</h2>
<p class="small muted">${words.intro}</p>
<form class="form" method="post" action="${view.triggerUrl}">${csrfField(view)}
<div class="field"><label for="type">${words.type}</label><select id="type" name="type">${view.types.map((type) => html`<option>${type}</option>`)}</select></div>
<div class="row"><button class="primary" name="step" value="send">${words.send}</button><button name="step" value="edit">${words.edit}</button></div>
</form></section>`;
}

/** The first page of the console: endpoints, a test event, and what was sent. */
export function overviewPage(view: OverviewView): ConsolePage {
  const { language, events } = view;
  const words = consoleWords[language];
  const endpoints = endpointList(view);
  const list = eventList(view);
  const [newest] = events;
  const said =
    newest === undefined
      ? words.said.nothing
      : words.said.event(
          newest.type,
          stateWords(newest.counts, language)
            .map(([, state]) => state)
            .join(', '),
        );
  return consolePage({
    ...view,
    title: words.title,
    layout: 'aside-first',
    live: { regions: [endpoints, list], said },
    body: html`<div class="column">
<section class="panel" aria-labelledby="endpoints"><div class="head"><h2 id="endpoints">${words.endpoints.title}</h2><a href="${view.endpointsUrl}">${words.endpoints.add}</a></div>
<div id="endpoint-list" data-live>${endpoints}</div></section>
${triggerForm(view)}
</div>
<section class="panel" aria-labelledby="events"><h2 id="events">${words.events.title}</h2>
<div id="event-list" data-live>${list}</div></section>`,
  });
}
