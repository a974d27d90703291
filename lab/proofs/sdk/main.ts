/**
 * Proof: the client SDK reports true results despite random faults between the SDK and the service. See
 * ../README.md.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { numbersFrom } from '../../support/arguments.ts';
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
for (const [kind, count] of faults) console.log(`${count} requests: ${kind}`);
for (const [end, [none, one]] of ends)
  console.log(`${none + one} calls: ${end}, with a transfer in ${one} of them`);
console.log(
  `called again with the same key: ${retries.settled} settled, ${retries.conflicts} in conflict with another payment\n`,
);
const problem = `${result.errorInstance}\n${fc.stringify(result.counterexample)}`;
const name = 'one transfer at most for each payment, and what the SDK said is true';
endProof([{ name, problems: result.failed ? [problem] : [] }], seed);
