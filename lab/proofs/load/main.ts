/** Everything at once, at half the rate at which errors begin. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { percentile, tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { kinds } from '../mix.ts';
import { claimsOf, prove } from './prove.ts';

const { minutes, rate } = numbersFrom({
  minutes: 10,
  /** At which errors begin, when it is known; 0 looks for it. */
  rate: 0,
});
const stolen = watchStolenTime();
const report = await prove({ minutes, rate: rate === 0 ? null : rate }, (line) => console.error(line));
const { load, processes } = report;

const ms = (time: number): string => `${time.toFixed(1)} ms`;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const shares = (values: readonly number[]) => [0.5, 0.99, 1].map((share) => ms(percentile(values, share)));
console.log(
  `\nErrors begin at ${report.errorRate} operations a second: one that failed, or had no answer within a second.\n` +
    `Held for ${minutes} min at ${report.rate} a second: ${load.failed} errors. ` +
    `${load.transfers} transfers since the beginning, ${load.untold} not told.\n`,
);
console.log(
  tableOf(
    ['operation', 'count', 'p50', 'p99', 'max'],
    [
      ...kinds.map((kind) => [kind, String(load.latencies[kind].length), ...shares(load.latencies[kind])]),
      ['from event to receiver', String(load.lags.length), ...shares(load.lags)],
    ],
  ),
);
console.log();
console.log(
  tableOf(
    [
      ...['process', 'busy', 'loop delay p50', 'p99', 'max'],
      ...['RSS, 2nd third', 'last', 'alive, 2nd third', 'last'],
    ],
    processes.map(({ name, busy, delayP50, delayP99, delayMax, rss, heap }) => [
      ...[name, `${(100 * busy).toFixed(0)} %`],
      ...[delayP50, delayP99, delayMax].map(ms),
      ...[...rss, ...heap].map(mib),
    ]),
  ),
);
console.log(`\n${stolen()}\n`);
endProof(claimsOf(report, { delayMs: 20, growth: 1.1 }));
