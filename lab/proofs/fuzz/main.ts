/** Proof: random requests get documented errors, and never a 5xx. See ../README.md. */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { prove } from './prove.ts';

const { seed, requests } = numbersFrom({
  /** Seed that repeats the same random requests. */
  seed: randomInt(2 ** 31),
  requests: 10_000,
});
console.log(`${requests} requests for each input, seed ${seed}\n`);
const { claims, reports } = await prove({ seed, requests }, ({ target }) => console.error(`${target}: done`));
const rows = reports.flatMap(({ target, outcomes, heapBytes }) =>
  [...outcomes]
    .toSorted(([, one], [, other]) => other - one)
    .map(([outcome, count], at) => [
      at === 0 ? target : '',
      at === 0 ? `${Math.round(heapBytes / 1024 / 1024)} MiB` : '',
      ...[outcome, String(count)],
    ]),
);
console.log(tableOf(['input', 'memory', 'result', 'responses'], rows));
console.log('');
endProof(claims, seed);
