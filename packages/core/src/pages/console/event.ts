import type { Language } from '../../scopes.ts';
import { type Html, html, nameOf } from '../html.ts';
import { type DeliveryView, deliveryItem } from './delivery.ts';
import { type ConsoleContext, type ConsolePage, consolePage, csrfField } from './frame.ts';
import { foreignText, moment, pageLinks, type StateCounts, stateWords } from './parts.ts';
import { consoleWords } from './text.ts';

/** What became of one event. */
export interface EventView extends ConsoleContext {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly createdAt: Date;
  /** The body as it is sent. */
  readonly body: string;
  /** Newest first. */
  readonly deliveries: readonly DeliveryView[];
  readonly olderUrl: string | null;
  /** Where it is delivered again. */
  readonly redeliverAction: string;
}

/** The id of the form that the buttons of single deliveries belong to. */
export const againForm = 'again';

/** Deliveries and the way to older ones. */
export function deliveryList(
  deliveries: readonly DeliveryView[],
  olderUrl: string | null,
  empty: string,
  language: Language,
): Html {
  const words = consoleWords[language].deliveries;
  if (deliveries.length === 0) {
    return html`<div class="empty"><h3>${words.emptyTitle}</h3><p class="muted">${empty}</p></div>`;
  }
  return html`<ul class="deliveries">${deliveries.map((delivery) => deliveryItem(delivery, language))}</ul>
${pageLinks([{ href: olderUrl, words: words.more }])}`;
}

/** How the deliveries stand, for those who hear the page. */
export function saidOf(deliveries: readonly DeliveryView[], language: Language): string {
  const counts: { -readonly [S in keyof StateCounts]: number } = {
    pending: 0,
    delivered: 0,
    dropped: 0,
    cancelled: 0,
  };
  for (const { state } of deliveries) counts[state] += 1;
  const states = stateWords(counts, language).map(([, words]) => words);
  return consoleWords[language].said.deliveries(states.join(', '));
}

/** One event: its body, and each delivery with its attempts. */
export function eventPage(view: EventView): ConsolePage {
  const { language, deliveries } = view;
  const words = consoleWords[language];
  const list = deliveryList(deliveries, view.olderUrl, words.deliveries.emptyEvent, language);
  return consolePage({
    ...view,
    title: view.type,
    heading: nameOf(view.type),
    layout: 'main-first',
    live: { regions: [list], said: saidOf(deliveries, language) },
    body: html`<section class="panel" aria-labelledby="deliveries"><h2 id="deliveries">${words.deliveries.title}</h2>
<div id="delivery-list" data-live>${list}</div></section>
<div class="column">
<section class="panel" aria-labelledby="redeliver"><h2 id="redeliver">${words.events.redeliverAll}</h2>
<p class="small muted">${words.events.redeliverHint}</p>
<form id="${againForm}" method="post" action="${view.redeliverAction}">${csrfField(view)}<button>${words.events.redeliverAll}</button></form></section>
<section class="panel" aria-labelledby="body"><h2 id="body">${words.events.body}</h2>
<p class="small muted">${words.events.sequence(view.sequence)} · ${moment(view.createdAt, language)}<br><code>${view.id}</code></p>
${foreignText(pretty(view.body), words.events.body)}
<p class="small muted">${words.events.bodyHint}</p></section>
</div>`,
  });
}

/** With line breaks for the eye; a text that is no JSON as it is. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
