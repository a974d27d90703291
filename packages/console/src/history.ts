import { type Html, html } from '@ostiary/core/pages';
import { type DeliveryStatus, deliveryStatuses, type EndpointHistory, type HistoryHour } from './api.ts';
import { counted, moment, stateBadge } from './parts.ts';
import type { Voice } from './words.ts';

/** Parts of a bar, from the bottom up. */
const stacked: readonly DeliveryStatus[] = ['delivered', 'pending', 'cancelled', 'dropped'];

const [barWidth, barGap, chartHeight] = [10, 3, 64];

const sumOf = (hours: readonly HistoryHour[], status: DeliveryStatus): number =>
  hours.reduce((sum, hour) => sum + hour[status], 0);

const madeIn = (hour: HistoryHour): number => deliveryStatuses.reduce((sum, status) => sum + hour[status], 0);

/** Draws one bar per hour, proportional to the number of deliveries. The highest bar fills the chart. */
function chart(hours: readonly HistoryHour[], label: string): Html {
  const scale = chartHeight / Math.max(...hours.map(madeIn));
  const bars = hours.map((hour, index) => {
    let top = chartHeight;
    return stacked.map((status) => {
      if (hour[status] === 0) return null;
      // Keep even a single delivery visible.
      const height = Math.max(2, Math.round(hour[status] * scale));
      top -= height;
      return html`<rect class="${status}" x="${index * (barWidth + barGap)}" y="${Math.max(0, top)}" width="${barWidth}" height="${height}"/>`;
    });
  });
  const width = hours.length * (barWidth + barGap) - barGap;
  return html`<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${chartHeight}" preserveAspectRatio="none">${bars}</svg>`;
}

/**
 * Shows the results of an endpoint's deliveries in the last day: in total, as a chart, and as a table by
 * hour. Empty if there were none.
 */
export function historyPanel({ hours, isCut }: EndpointHistory, { language, words }: Voice): Html {
  const { history, states } = words.deliveries;
  const occurring = deliveryStatuses.filter((status) => sumOf(hours, status) > 0);
  const total = (status: DeliveryStatus): string =>
    `${states[status]}: ${counted(sumOf(hours, status), language)}`;
  const row = (hour: HistoryHour): Html =>
    html`<tr><th scope="row">${moment(hour.from, language)}</th>${occurring.map((status) => html`<td>${counted(hour[status], language)}</td>`)}</tr>`;
  if (occurring.length === 0) return html`<div id="history" class="live-part" data-live></div>`;
  return html`<div id="history" class="live-part" data-live><section class="panel" aria-labelledby="history-title"><h2 id="history-title">${history.title}</h2>
<p class="states">${occurring.map((status) => stateBadge(status, total(status)))}</p>
${chart(hours, occurring.map(total).join(', '))}
<details id="history-table"><summary class="small">${history.table}</summary><table><thead><tr><th scope="col">${history.hour}</th>${occurring.map((status) => html`<th scope="col">${states[status]}</th>`)}</tr></thead>
<tbody>${hours.filter((hour) => madeIn(hour) > 0).map(row)}</tbody></table></details>${isCut ? html`<p class="small muted">${history.cut}</p>` : null}</section></div>`;
}
