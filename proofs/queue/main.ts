/** What the queue costs: statements, claims on a large backlog, and size in the long run. See ../README.md. */
import { watchStolenTime } from '../../benchmarks/shared/stolen-time.ts';
import { numbersFrom } from '../support/arguments.ts';
import { tableOf } from '../support/table.ts';
import { timeClaims } from './claims.ts';
import { soak } from './soak.ts';
import { countStatements } from './statements.ts';

const mostStatements = 3;
const mostMs = 20;

const { events, waiting, claims, minutes } = numbersFrom({
  /** To ten endpoints each. */
  events: 1_000,
  waiting: 1_000_000,
  /** Of each kind. */
  claims: 500,
  /** Of the soak. */
  minutes: 10,
});
const verdict = (holds: boolean): string => {
  if (!holds) process.exitCode = 1;
  return holds ? 'holds' : 'VIOLATED';
};

const stolen = watchStolenTime();
const counts = await countStatements({ events, singles: 50, fsync: true });
console.log(
  tableOf(
    [
      'statements, counted by the server',
      'deliveries',
      'claims',
      'results',
      'others',
      'per delivery',
      `<= ${mostStatements}`,
    ],
    counts.map((one) => [
      one.what,
      String(one.deliveries),
      String(one.claims),
      String(one.results),
      String(one.others),
      one.perDelivery.toFixed(3),
      verdict(one.perDelivery <= mostStatements),
    ]),
  ),
);

const timed = await timeClaims({ waiting, claims, fsync: true });
console.log(
  `\n${tableOf(
    [
      `claims, ${waiting.toLocaleString('en-US')} deliveries waiting`,
      'claims',
      'each',
      'median',
      'p99',
      'worst',
      'p99 with a CPU',
      `p99 <= ${mostMs} ms`,
    ],
    timed.map((one) => [
      one.what,
      String(one.claims),
      (one.deliveries / one.claims).toFixed(0),
      `${one.median.toFixed(1)} ms`,
      `${one.p99.toFixed(1)} ms`,
      `${one.worst.toFixed(1)} ms`,
      `${one.p99Undisturbed.toFixed(1)} ms`,
      verdict(one.p99 <= mostMs && one.problems.length === 0),
    ]),
  )}\n`,
);
console.log(`${stolen()}\n`);
for (const { what, steps, problems } of timed) {
  console.log(`plan of a claim ${what}: ${steps.join(', ')}`);
  for (const problem of problems.slice(0, 5)) console.log(`          ${problem}`);
}

const kib = (bytes: number) => `${Math.round(bytes / 1024).toLocaleString('en-US')} KiB`;
const sampleSeconds = Math.min(30, minutes * 3);
const soaked = await soak(
  { seconds: minutes * 60, sampleSeconds, group: 20, groupsPerSecond: 4, fsync: true },
  (total) => console.error(`everything together: ${kib(total)}`),
);
console.log(
  `\n${minutes} minutes, ${soaked.deliveries} deliveries, ${soaked.transfers} transfers, ${soaked.purged} rows purged; ` +
    `everything together every ${sampleSeconds} s: ${soaked.totals.map(kib).join(', ')}\n`,
);
console.log(
  tableOf(
    ['largest size in each third', 'first', 'second', 'last', 'growth', ''],
    soaked.growth
      .filter(({ thirds }) => Math.max(...thirds) >= 64 * 1024)
      .map(({ relation, isKept, thirds, factor, holds }) => [
        relation,
        ...thirds.map(kib),
        `${factor.toFixed(2)}${isKept ? ' per row' : ''}`,
        verdict(holds),
      ]),
  ),
);
for (const problem of soaked.problems.slice(0, 10)) console.log(`VIOLATED  ${problem}`);
if (soaked.problems.length > 0 || soaked.growth.some(({ holds }) => !holds)) process.exitCode = 1;
// Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
process.exit();
