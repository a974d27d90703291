/** Proof: all operations run together, at half the rate that is too high for the machine. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { kinds } from '../../support/deployment/mix.ts';
import { percentile } from '../../support/measure/statistics.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

const { minutes, rate } = numbersFrom({
  minutes: 10,
  /** Rate that is too high, if it is known; 0 searches for the rate. */
  rate: 0,
});
const stolen = watchStolenTime();
const report = await prove({ minutes, rate }, (line) => console.error(line));
const { latencies } = report.load;

const ms = (time: number): string => `${time.toFixed(1)} ms`;
console.log(
  `\n${report.limit.rate} operations a second are too many: ${report.limit.reason}.\n` +
    `Held for ${minutes} min at ${report.rate} a second; ${stolen()}\n`,
);
const shares = (values: readonly number[]) => [0.5, 0.99, 1].map((share) => ms(percentile(values, share)));
const rows = kinds.map((kind) => [kind, String(latencies[kind].length), ...shares(latencies[kind])]);
console.log(`${tableOf(['operation', 'count', 'p50', 'p99', 'max'], rows)}\n`);
endProof(claimsOf(report, { delayMs: 20, growth: 1.1 }));
