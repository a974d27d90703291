import { deliveryStates } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import type { DeliveryState, EndpointHistory, HistoryHour } from './api.ts';
import { counted, moment, stateBadge } from './parts.ts';
import type { Voice } from './words.ts';

/** Delivery states that make up a bar of the chart, from the bottom up. */
const stacked: readonly DeliveryState[] = ['delivered', 'pending', 'failing', 'cancelled', 'dropped'];

const [barWidth, barGap, chartHeight] = [10, 3, 64];

const sumOf = (hours: readonly HistoryHour[], state: DeliveryState): number =>
  hours.reduce((sum, hour) => sum + hour[state], 0);

const madeIn = (hour: HistoryHour): number => deliveryStates.reduce((sum, state) => sum + hour[state], 0);

/**
 * Draws one bar per hour, proportional to the number of deliveries in it. The highest bar fills the chart.
 */
function chart(hours: readonly HistoryHour[], label: string): Html {
  const scale = chartHeight / Math.max(...hours.map(madeIn));
  const bars = hours.map((hour, index) => {
    let top = chartHeight;
    return stacked.map((state) => {
      if (hour[state] === 0) return null;
      // Keep even a single delivery visible.
      const height = Math.max(2, Math.round(hour[state] * scale));
      top -= height;
      return html`<rect class="${state}" x="${index * (barWidth + barGap)}" y="${Math.max(0, top)}" width="${barWidth}" height="${height}"/>`;
    });
  });
  const width = hours.length * (barWidth + barGap) - barGap;
  return html`<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${chartHeight}" preserveAspectRatio="none">${bars}</svg>`;
}

/**
 * Shows the results of an endpoint's deliveries in the last day: in total, as a chart, and as a table by
 * hour. Empty if there were no deliveries.
 */
export function historyPanel({ hours, isCut }: EndpointHistory, { language, words }: Voice): Html {
  const { history, states } = words.deliveries;
  const occurring = deliveryStates.filter((state) => sumOf(hours, state) > 0);
  const total = (state: DeliveryState): string =>
    `${states[state]}: ${counted(sumOf(hours, state), language)}`;
  const row = (hour: HistoryHour): Html =>
    html`<tr><th scope="row">${moment(hour.from, language)}</th>${occurring.map((state) => html`<td>${counted(hour[state], language)}</td>`)}</tr>`;
  if (occurring.length === 0) return html`<div id="history" class="live-part" data-live></div>`;
  return html`<div id="history" class="live-part" data-live><section class="panel" aria-labelledby="history-title"><h2 id="history-title">${history.title}</h2>
<p class="states">${occurring.map((state) => stateBadge(state, total(state)))}</p>
${chart(hours, occurring.map(total).join(', '))}
<details id="history-table"><summary class="small">${history.table}</summary><table><thead><tr><th scope="col">${history.hour}</th>${occurring.map((state) => html`<th scope="col">${states[state]}</th>`)}</tr></thead>
<tbody>${hours.filter((hour) => madeIn(hour) > 0).map(row)}</tbody></table></details>${isCut ? html`<p class="small muted">${history.cut}</p>` : null}</section></div>`;
}
