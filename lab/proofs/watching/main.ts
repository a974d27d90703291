/** Proof: metrics, dashboard, traces and logs of a deployment that is used and broken. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { programOf } from '../../support/program.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { proveMetrics, proveQuiet } from './alerts.ts';
import { openCollector, provideCollector } from './collector.ts';
import { proveFiring } from './firing.ts';
import { proveLogs } from './logs.ts';
import { provePanels } from './panels.ts';
import { openPrometheus } from './prometheus.ts';
import { rates, seconds, setWatchedStage } from './stage.ts';
import { proveTraces } from './traces.ts';

const { outage } = numbersFrom({
  /** Duration of each outage in which the logs are measured, in seconds. */
  outage: 30,
});

/** Proves what Prometheus and the collector see of one deployment. */
async function proveWatched(prometheusProgram: string, promtool: string): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const collectorProgram = await provideCollector();
  const collector = collectorProgram === null ? null : await openCollector(ends, collectorProgram);
  if (collector === null) console.log('skipped: Go is needed to compile the collector');
  const stage = await setWatchedStage(ends, {
    OSTIARY_LOG_LEVEL: 'fatal',
    ...(collector !== null && { OSTIARY_TRACES_URL: collector.url }),
  });
  const from = Date.now();
  const prometheus = await openPrometheus(ends, prometheusProgram, Object.values(stage.metrics));
  stage.load.begin('watching');
  await stage.load.start(rates);
  await seconds(20);
  const claims = [await proveQuiet(prometheus)];
  if (collector !== null) claims.push(...(await proveTraces(collector, stage)));
  // One panel shows only faults.
  await stage.server.restart('fast', 8_000);
  await seconds(7);
  claims.push(...(await proveMetrics(promtool, stage)));
  claims.push(...(await provePanels(prometheus, { from, to: Date.now() })));
  return claims;
}

const claims: Claim[] = [];
const [prometheus, promtool] = [programOf('prometheus'), programOf('promtool')];
if (prometheus === undefined || promtool === undefined) console.log('skipped: there is no Prometheus');
else {
  claims.push(...(await proveWatched(prometheus, promtool)));
  claims.push(...(await proveFiring(prometheus)));
}
claims.push(...(await proveLogs(outage)));
endProof(claims);
