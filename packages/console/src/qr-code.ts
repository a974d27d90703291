import { type Html, html } from '@ostiary/core/pages';
import { encode } from 'uqr';

/** Width of the white margin that QR code readers need around a code, in modules (ISO/IEC 18004). */
const quietZone = 4;

/**
 * Draws a QR code as SVG, dark on light in every colour scheme, because many QR code readers require that.
 * @param label - text for screen readers
 */
export function qrCode(content: string, label: string): Html {
  const { data } = encode(content, { ecc: 'L', border: quietZone });
  const size = String(data.length);
  // Draw one rectangle per run of dark modules, row by row.
  const path = data
    .flatMap((row, y) => {
      const runs: string[] = [];
      for (let x = 0; x < row.length; x += 1) {
        if (row[x] !== true) continue;
        const start = x;
        while (row[x + 1] === true) x += 1;
        const length = x - start + 1;
        runs.push(`M${start} ${y}h${length}v1h-${length}z`);
      }
      return runs;
    })
    .join('');
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
