import { type Html, html, nameOf } from '../html.ts';
import type { DeliveryView } from './delivery.ts';
import { againForm, deliveryList, saidOf } from './event.ts';
import { type ConsoleContext, type ConsolePage, consolePage, csrfField } from './frame.ts';
import { typesOf } from './overview.ts';
import { moment, stateBadge } from './parts.ts';
import { consoleWords } from './text.ts';

/** One endpoint, and what was sent to it. */
export interface EndpointView extends ConsoleContext {
  readonly id: string;
  readonly targetUrl: string;
  readonly enabled: boolean;
  readonly types: readonly string[];
  readonly createdAt: Date;
  /** Newest first. */
  readonly deliveries: readonly DeliveryView[];
  readonly olderUrl: string | null;
  /** Where changes are posted: `action` is `enable`, `disable` or `remove`. */
  readonly action: string;
}

const changeForm = 'change';

function settings(view: EndpointView): Html {
  const { language, enabled } = view;
  const words = consoleWords[language].endpoints;
  const state = enabled ? words.enabled : words.disabled;
  const change = enabled
    ? html`<p class="small muted">${words.disableHint}</p><button class="compact" form="${changeForm}" name="action" value="disable">${words.disable}</button>`
    : html`<button class="compact primary" form="${changeForm}" name="action" value="enable">${words.enable}</button>`;
  return html`<p>${stateBadge(enabled ? 'enabled' : 'disabled', state)}</p>
<p>${typesOf(view.types, language)}</p>
<p class="small muted">${words.since(moment(view.createdAt, language))}<br><code>${view.id}</code></p>
${change}`;
}

/** One endpoint: its settings, and its deliveries with their attempts. */
export function endpointPage(view: EndpointView): ConsolePage {
  const { language, deliveries } = view;
  const words = consoleWords[language];
  const list = deliveryList(deliveries, view.olderUrl, words.deliveries.emptyEndpoint, language);
  const shown = settings(view);
  const state = view.enabled ? words.endpoints.enabled : words.endpoints.disabled;
  return consolePage({
    ...view,
    title: view.targetUrl,
    heading: nameOf(view.targetUrl),
    layout: 'aside-first',
    live: {
      regions: [shown, list],
      said: `${words.said.endpoint(state)} ${saidOf(deliveries, language)}`,
    },
    body: html`<div class="column">
<section class="panel" aria-label="${words.endpoints.title}">
<div id="endpoint-settings" class="column" data-live>${shown}</div>
<details id="removal"><summary>${words.endpoints.remove}</summary><p>${words.endpoints.removeHint}</p>
<div class="row"><button class="compact" form="${changeForm}" name="action" value="remove">${words.endpoints.removeNow}</button></div></details>
</section></div>
<form id="${changeForm}" method="post" action="${view.action}" hidden>${csrfField(view)}</form>
<form id="${againForm}" method="post" action="${view.action}" hidden>${csrfField(view)}</form>
<section class="panel" aria-labelledby="deliveries"><h2 id="deliveries">${words.deliveries.title}</h2>
<div id="delivery-list" data-live>${list}</div></section>`,
  });
}
