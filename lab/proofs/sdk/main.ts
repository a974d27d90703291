/** Random faults between the client SDK and the service. See ../README.md. */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { prove } from './run.ts';
import { schedules } from './schedule.ts';
import { Tally } from './tally.ts';

const { runs, seed } = numbersFrom({ runs: 1_000, seed: randomInt(2 ** 31) });
console.log(`${runs} schedules, seed ${seed}`);
const tally = new Tally();
const started = performance.now();
const result = await fc.check(
  fc.asyncProperty(schedules, async (schedule) => {
    const problems = await prove(schedule, tally);
    if (problems.length > 0) throw new Error(problems.join('; '));
  }),
  { seed, numRuns: runs, endOnFailure: true },
);
const seconds = ((performance.now() - started) / 1000).toFixed(1);

const { calls, requests, faults, ends, retries } = tally;
console.log(`${calls} payments in ${requests} requests, ${seconds} s\n`);
console.log(
  tableOf(
    ['on the way', 'requests'],
    [...faults].sort(([, left], [, right]) => right - left).map(([kind, count]) => [kind, String(count)]),
  ),
);
console.log(
  `\n${tableOf(
    ['the SDK said', 'no transfer', 'one', 'more'],
    [...ends].sort().map(([end, counts]) => [end, ...counts.map(String)]),
  )}\n`,
);
console.log(
  `called again with the same key: ${retries.settled} settled, ${retries.conflicts} in conflict with another payment`,
);
const problem = `${result.errorInstance}\n${fc.stringify(result.counterexample)}`;
console.log();
endProof(
  [
    {
      name: 'one transfer at most for each payment, and what the SDK said is true',
      problems: result.failed ? [problem] : [],
    },
  ],
  seed,
);
