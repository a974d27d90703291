import { spawnSync } from 'node:child_process';
import { type Claim, claim } from '../../support/proof.ts';
import type { Prometheus } from './prometheus.ts';
import type { WatchedStage } from './stage.ts';

/** Alerts about the speed of the machine, which may fire on a busy one. */
const ofTheMachine = ['OstiarySlow', 'OstiaryBusy', 'OstiaryEventLoopBlocked', 'OstiaryMemory'];

/** Checks that no alert fires while everything works. */
export async function proveQuiet(prometheus: Prometheus): Promise<Claim> {
  const firing = [...(await prometheus.firing())].filter((name) => !ofTheMachine.includes(name));
  return { name: 'no alert fires while everything works', problems: firing, found: firing.join(', ') };
}

/** Checks the pages of metrics with promtool, when all metrics are on them. */
export async function proveMetrics(promtool: string, { metrics }: WatchedStage): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const [role, address] of Object.entries(metrics)) {
    const page = await (await fetch(`http://${address}/metrics`)).text();
    const { status, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: page, encoding: 'utf8' });
    const names = page.match(/^# TYPE/gm)?.length ?? 0;
    const found = `${names} metrics${stderr}`;
    claims.push(claim(`promtool accepts the metrics of the ${role}`, status === 0 && stderr === '', found));
  }
  return claims;
}
