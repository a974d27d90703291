/** Random payments with retries against a process that is killed at random moments. See ../README.md. */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { numbersFrom } from '../../support/arguments.ts';
import { prove, violationsOf } from './run.ts';
import { schedules } from './schedule.ts';

const { seed, payments, kills } = numbersFrom({
  /** Repeats a schedule: payments, retries, moments of the kills. */
  seed: randomInt(2 ** 31),
  payments: 1_000,
  kills: 20,
});

console.log(`${payments} payments, ${kills} kills, seed ${seed}`);
const [schedule] = fc.sample(schedules({ payments, kills }), { seed, numRuns: 1 });
if (schedule === undefined) throw new Error('there is no schedule');
const started = performance.now();
const report = await prove(schedule);
const seconds = ((performance.now() - started) / 1000).toFixed(1);

const { requests, transfers, troubles } = report;
console.log(
  `${requests} answered requests made ${transfers} transfers in ${seconds} s; ` +
    `${troubles.cutOff} requests were cut off, ${troubles.unavailable} answered with 5xx, all of them sent again\n`,
);
for (const [name, problems] of report.findings) {
  console.log(`${problems.length === 0 ? 'holds   ' : 'VIOLATED'}  ${name}`);
  for (const problem of problems.slice(0, 5)) console.log(`          ${problem}`);
  if (problems.length > 5) console.log(`          and ${problems.length - 5} more`);
}
if (violationsOf(report).length > 0) {
  console.log(`\nrepeat with --seed ${seed}`);
  process.exitCode = 1;
}
