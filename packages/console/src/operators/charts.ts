import { type Html, html } from '@ostiary/core/pages';

/** Width and height of a chart in units of its drawing. It is stretched to the available width. */
const [width, height] = [240, 48];

/** Space above the highest value and below 0 in a line chart, so that the line is not cut off. */
const margin = 2;

function chart(label: string, content: Html): Html {
  return html`<svg class="line-chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${content}</svg>`;
}

/** Rounds a coordinate of a chart to a tenth. */
const rounded = (coordinate: number): number => Math.round(coordinate * 10) / 10;

/**
 * Draws a line through values, from 0 on; the highest value reaches the margin at the top of the chart.
 * @param label - the chart in words, for screen readers
 */
export function lineChart(values: readonly number[], label: string): Html {
  const most = Math.max(1, ...values);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const top = height - margin - (value / most) * (height - 2 * margin);
    return `${rounded(index * step)},${rounded(top)}`;
  });
  return chart(label, html`<polyline points="${points.join(' ')}"/>`);
}

/**
 * Draws one bar per period for accepted and failed webhook attempts; the highest bar touches the top of the
 * chart.
 * @param label - the chart in words, for screen readers
 */
export function barChart(
  values: readonly { readonly accepted: number; readonly failed: number }[],
  label: string,
): Html {
  const scale = height / Math.max(1, ...values.map(({ accepted, failed }) => accepted + failed));
  const step = width / values.length;
  // Keep even a single attempt visible.
  const sizeOf = (count: number): number => (count === 0 ? 0 : Math.max(2, rounded(count * scale)));
  const bar = (state: string, index: number, bottom: number, size: number): Html | null =>
    size === 0
      ? null
      : html`<rect class="${state}" x="${rounded(index * step + step * 0.15)}" y="${rounded(Math.max(0, bottom - size))}" width="${rounded(step * 0.7)}" height="${size}"/>`;
  return chart(
    label,
    html`${values.map(({ accepted, failed }, index) => {
      const size = sizeOf(accepted);
      return [bar('delivered', index, height, size), bar('dropped', index, height - size, sizeOf(failed))];
    })}`,
  );
}
