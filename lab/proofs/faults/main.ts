/** Proof: every fault that a cluster must survive is injected under load. See ../README.md. */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

const limitMs = 2_000;

const { seed, kills, cut } = numbersFrom({
  /** Seed that repeats the same requests and moments of the faults. */
  seed: randomInt(2 ** 31),
  kills: 50,
  /** Duration of the network cut, in seconds. */
  cut: 30,
});
console.log(`two web processes and two workers on one PostgreSQL, seed ${seed}\n`);
const report = await prove(
  {
    seed,
    kills,
    terminations: 20,
    restarts: 3,
    cutSeconds: cut,
    exhaustedSeconds: 10,
    fullSeconds: 10,
    quietSeconds: 20,
    payers: 8,
    publishers: 3,
    exchangers: 3,
    pauseMs: 60,
    speed: 1,
    diskMegabytes: 1024,
    fsync: true,
  },
  (name) => console.error(`${name}: done`),
);

const ms = (time: number) => (Number.isFinite(time) ? `${Math.round(time)} ms` : 'never');
const rows = report.faults
  .filter(({ skipped }) => skipped === null)
  .map(({ name, tally, webMs, deliveredMs }) => [
    ...[name, String(tally.requests), String(tally.cutOff), String(tally.errors)],
    ...[tally.slowestErrorMs, webMs, deliveredMs].map(ms),
  ]);
const heads = ['fault', 'requests', 'cut off', '503', 'slowest', 'answers after', 'delivers after'];
console.log(tableOf(heads, rows));
console.log(
  `\n${report.payments} payments, ${report.events} test events and ${report.exchanges} exchanged codes\n`,
);
endProof(claimsOf(report, limitMs), seed);
