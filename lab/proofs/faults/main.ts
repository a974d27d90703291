/** Every fault that a cluster has to live through, under load. See ../README.md. */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { endProof } from '../../support/proof.ts';
import { claimsOf, type FaultReport, prove } from './prove.ts';

const limitMs = 2_000;

const { seed, kills, cut } = numbersFrom({
  /** Repeats what is sent, and the moments of the faults. */
  seed: randomInt(2 ** 31),
  kills: 50,
  /** Seconds. */
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
const total = (values: readonly number[]) => String(values.reduce((sum, value) => sum + value, 0));
const worst = (values: readonly number[]) => ms(Math.max(...values));
/** Columns of the table: what each shows of a fault, and of all of them. */
const columns: readonly (readonly [
  head: string,
  of: (report: FaultReport) => number,
  all: (values: readonly number[]) => string,
])[] = [
  ['requests', ({ tally }) => tally.requests, total],
  ['cut off', ({ tally }) => tally.cutOff, total],
  ['503', ({ tally }) => tally.errors, total],
  ['slowest', ({ tally }) => tally.slowestErrorMs, worst],
  ['other errors', ({ tally }) => tally.wrong.length, total],
  ['lost events', ({ findings }) => findings.lostEvents.length, total],
  ['double transfers', ({ findings }) => findings.doubleTransfers.length, total],
  ['stray executions', ({ findings }) => findings.strayExecutions.length, total],
  ['answers after', ({ webMs }) => webMs, worst],
  ['delivers after', ({ deliveredMs }) => deliveredMs, worst],
];
const made = report.faults.filter(({ skipped }) => skipped === null);
console.log(
  tableOf(
    ['fault', ...columns.map(([head]) => head)],
    [
      ...report.faults.map((one) =>
        one.skipped === null
          ? [one.name, ...columns.map(([, of, all]) => all([of(one)]))]
          : [one.name, `skipped: ${one.skipped}`],
      ),
      ['total', ...columns.map(([, of, all]) => all(made.map(of)))],
    ],
  ),
);
const { bloat } = report;
console.log(
  `\n${report.payments} payments, ${report.events} test events and ${report.exchanges} exchanged codes. ` +
    `A transaction was open for ${bloat.heldSeconds.toFixed(0)} s: ${bloat.dead} dead rows stayed among the pending ` +
    `deliveries (${Math.round(bloat.bytes / 1024)} KiB), claims took at most ${report.claimP99.toFixed(1)} ms (p99); ` +
    `after its end VACUUM left ${bloat.deadAfter}.\n`,
);
endProof(claimsOf(report, limitMs), seed);
