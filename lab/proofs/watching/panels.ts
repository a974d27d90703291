import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Claim, claim } from '../../support/proof.ts';
import type { Prometheus } from './prometheus.ts';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const file = resolve(import.meta.dirname, '../../../deploy/grafana/dashboard.json');

/** Interval that Grafana would insert into an expression: four scrapes. */
const rateInterval = '8s';

/** Asks Prometheus for each expression of each panel of the dashboard, over the whole run. */
export async function provePanels(
  prometheus: Prometheus,
  run: { readonly from: number; readonly to: number },
): Promise<Claim[]> {
  const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(await readFile(file, 'utf8'));
  const claims: Claim[] = [];
  for (const { title, targets } of panels) {
    const counts = await Promise.all(
      targets.map(({ expr }) => prometheus.count(expr.replaceAll('$__rate_interval', rateInterval), run)),
    );
    const empty = targets.filter((_, at) => counts[at] === 0).map(({ expr }) => `no data: ${expr}`);
    claims.push({ name: `panel: ${title}`, problems: empty, found: `${counts.join(' + ')} values` });
  }
  return [claim('the dashboard has panels', panels.length > 10, `${panels.length} panels`), ...claims];
}
