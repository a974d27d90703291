/** Everything at once, at half the rate at which errors begin. See ../README.md. */

import { numbersFrom } from '../../support/arguments.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { percentile, tableOf } from '../../support/measure/table.ts';
import { kinds } from './acts.ts';
import type { Health } from './loop-health.ts';
import { prove, violationsOf } from './run.ts';

const limits = { delayMs: 20, growth: 1.1 };

const { minutes, rate } = numbersFrom({
  minutes: 10,
  /** At which errors begin, when it is known; 0 looks for it. */
  rate: 0,
});
const stolen = watchStolenTime();
const report = await prove({ minutes, rate: rate === 0 ? null : rate }, (line) => console.error(line));
const { load, processes, bystander, byMinute } = report;

const ms = (time: number): string => `${time.toFixed(1)} ms`;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
console.log(
  `\nErrors begin at ${report.errorRate} operations a second: one that failed, or had no answer within a second.\n` +
    `Held for ${minutes} min at ${report.rate} a second: ${load.failed} errors.\n`,
);
console.log(
  tableOf(
    ['operation', 'count', 'p50', 'p99', 'max'],
    kinds.map((kind) => {
      const latencies = load.latencies[kind];
      return [
        kind,
        String(latencies.length),
        ...[0.5, 0.99, 1].map((share) => ms(percentile(latencies, share))),
      ];
    }),
  ),
);
console.log(
  `\n${load.transfers} transfers since the beginning, ${load.untold} not told. From event to receiver: p50 ` +
    `${ms(percentile(load.lags, 0.5))}, p99 ${ms(percentile(load.lags, 0.99))}, at most ${ms(Math.max(0, percentile(load.lags, 1)))}.\n`,
);
const loop = ({ busy, cores, delayP50, delayP99, delayMax }: Health): string[] => [
  `${(100 * busy).toFixed(0)} %`,
  cores.toFixed(2),
  ...[delayP50, delayP99, delayMax].map(ms),
];
console.log(
  tableOf(
    [
      ...['process', 'busy', 'cores', 'loop delay p50', 'p99', 'max'],
      ...['RSS, 2nd third', 'last', 'alive, 2nd third', 'last'],
    ],
    [
      ...processes.map((one) => [one.name, ...loop(one), ...[...one.rss, ...one.heap].map(mib)]),
      ['one that does nothing', ...loop(bystander)],
    ],
  ),
);
console.log(`\nWhat the machine did to the one that does nothing, beside the errors:\n`);
console.log(
  tableOf(
    ['minute', 'errors', 'loop delay, max', '8 KiB to the disk, max', 'taken by other machines'],
    byMinute.map(({ failed, stolen: share, delayMax, flushMax }, index) => [
      String(index + 1),
      String(failed),
      ms(delayMax),
      ms(flushMax),
      share === null ? '?' : `${(100 * share).toFixed(1)} %`,
    ]),
  ),
);
console.log(`\n${stolen()}`);
const violations = violationsOf(report, limits);
for (const violation of violations) console.log(`\nVIOLATED  ${violation}`);
// Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
process.exit(violations.length === 0 ? 0 : 1);
