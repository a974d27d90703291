/**
 * Proof: the primary database server is lost under load and a standby takes over, again and again. See
 * ../README.md.
 */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { claimsBehindPatroni, findPrograms, proveBehindPatroni } from './patroni.ts';
import { claimsOf, prove } from './prove.ts';

const { seed, rounds, patroni } = numbersFrom({
  /** Seed that repeats the same requests and moments of the failovers. */
  seed: randomInt(2 ** 31),
  rounds: 20,
  /** Number of rounds behind Patroni of each fault. */
  patroni: 2,
});
const load = { payers: 8, publishers: 3, exchangers: 3, verifiers: 2, revokers: 2, pauseMs: 60 };
const onRound = (name: string) => console.error(`${name}: done`);
const ms = (time: number) => (Number.isFinite(time) ? `${Math.round(time)} ms` : 'never');
const limits = { errorMs: 2_000, againMs: 3_000 };

const claims: Claim[] = [];
if (rounds > 0) {
  console.log(`two web processes and a worker on a primary and its synchronous standby, seed ${seed}\n`);
  const report = await prove(
    { ...{ seed, rounds, quietMs: 3_000, cutMs: 300, awayMs: 2_000, speed: 1, fsync: true }, ...load },
    onRound,
  );
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
  claims.push(...claimsOf(report, limits));
}

const programs = findPrograms();
if (programs === null) {
  console.log('skipped behind Patroni: patroni, etcd, haproxy, pgbouncer and PostgreSQL must be installed\n');
} else if (patroni > 0) {
  console.log('the same on three servers of Patroni, behind HAProxy and PgBouncer\n');
  const behind = await proveBehindPatroni(
    programs,
    { ...{ seed, rounds: patroni, quietMs: 3_000, awayMs: 2_000 }, ...load },
    onRound,
  );
  console.log(
    tableOf(
      ['', 'requests', '503', 'slowest', 'away', 'first answers', 'last answers', 'delivers'],
      behind.rounds.map(({ name, tally, awayMs, firstWebMs, webMs, deliveredMs }) => [
        ...[name, String(tally.requests), String(tally.errors)],
        ...[tally.slowestErrorMs, awayMs, firstWebMs, webMs, deliveredMs].map(ms),
      ]),
    ),
  );
  console.log('\nThe last three: from the promotion, or from the start of the pooler.\n');
  // A request may wait for the database twice: once until the promotion, and once more if the new primary fails the
  // next call.
  claims.push(...claimsBehindPatroni(behind, { ...limits, errorMs: 3_500 }));
}
endProof(claims, seed);
