/**
 * Proof: the primary database server is killed under load and its standby takes over, again and again. See
 * ../README.md.
 */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

const { seed, rounds } = numbersFrom({
  /** Seed that repeats the same requests and moments of the failovers. */
  seed: randomInt(2 ** 31),
  rounds: 20,
});
console.log(`two web processes and a worker on a primary and its synchronous standby, seed ${seed}\n`);
const report = await prove(
  {
    ...{ seed, rounds, quietMs: 3_000, cutMs: 300, awayMs: 2_000, speed: 1, fsync: true },
    ...{ payers: 8, publishers: 3, exchangers: 3, verifiers: 2, pauseMs: 60 },
  },
  (name) => console.error(`${name}: done`),
);

const ms = (time: number) => (Number.isFinite(time) ? `${Math.round(time)} ms` : 'never');
console.log(
  tableOf(
    ['', 'requests', '503', 'slowest', 'away', 'promotion', 'first answers', 'last answers', 'delivers'],
    report.rounds.map(({ name, tally, awayMs, promotionMs, firstWebMs, webMs, deliveredMs }) => [
      ...[name, String(tally.requests), String(tally.errors)],
      ...[tally.slowestErrorMs, awayMs, promotionMs, firstWebMs, webMs, deliveredMs].map(ms),
    ]),
  ),
);
console.log('\nThe last three: from the end of the promotion.\n');
endProof(claimsOf(report, { errorMs: 2_000, againMs: 3_000 }), seed);
