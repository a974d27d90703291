/** Proof: all operations run together, at half the rate at which errors begin. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { kinds } from '../../support/deployment/mix.ts';
import { percentile } from '../../support/measure/statistics.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

const { minutes, rate } = numbersFrom({
  minutes: 10,
  /** Rate at which errors begin, if the rate is known; 0 searches for the rate. */
  rate: 0,
});
const stolen = watchStolenTime();
const report = await prove({ minutes, rate }, (line) => console.error(line));
const { latencies } = report.load;

const ms = (time: number): string => `${time.toFixed(1)} ms`;
console.log(
  `\nErrors begin at ${report.errorRate} operations a second: one that failed, or had no answer within a second.\n` +
    `Held for ${minutes} min at ${report.rate} a second; ${stolen()}\n`,
);
const shares = (values: readonly number[]) => [0.5, 0.99, 1].map((share) => ms(percentile(values, share)));
const rows = kinds.map((kind) => [kind, String(latencies[kind].length), ...shares(latencies[kind])]);
console.log(`${tableOf(['operation', 'count', 'p50', 'p99', 'max'], rows)}\n`);
endProof(claimsOf(report, { delayMs: 20, growth: 1.1 }));
