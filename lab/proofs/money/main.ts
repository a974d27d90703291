/**
 * Proof: random payments with retries against a process that is killed at random moments. See ../README.md.
 */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { endProof } from '../../support/proof.ts';
import { prove } from './prove.ts';

const { seed, payments, kills } = numbersFrom({
  /** Seed that repeats the same schedule: payments, retries and moments of the kills. */
  seed: randomInt(2 ** 31),
  payments: 1_000,
  kills: 20,
});

console.log(`${payments} payments, ${kills} kills, seed ${seed}`);
const started = performance.now();
const { claims, tally, transfers } = await prove({ seed, payments, kills });
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  `${tally.requests} requests made ${transfers} transfers in ${seconds} s; ` +
    `${tally.cutOff} were cut off, ${tally.errors} answered with 503, all of them sent again\n`,
);
endProof(claims, seed);
