/** What the queue costs: statements, claims on a large backlog, and size in the long run. See ../README.md. */

import { numbersFrom } from '../../support/arguments.ts';
import { median } from '../../support/measure/statistics.ts';
import { QuietTurns, watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type ClaimReport, timeClaims } from './claims.ts';
import { soak } from './soak.ts';
import { countStatements } from './statements.ts';

const mostStatements = 3;
const mostMs = 20;
/** Of all runs of claims, repeated ones among them. */
const quietMs = 20 * 60_000;
/** What others may take of the processors in a run of claims: the slowest hundredth is looked at, and a hundredth decides it. */
const quietShare = 0.01;

const { events, waiting, claims, runs, minutes } = numbersFrom({
  /** To ten endpoints each. */
  events: 1_000,
  waiting: 1_000_000,
  /** Of each kind, in a run. */
  claims: 500,
  /** Of each kind. */
  runs: 3,
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

const quiet = new QuietTurns(quietMs, quietShare);
const timed: (ClaimReport & { readonly endpoints: number })[] = [];
for (const endpoints of [1, 100, 10_000]) {
  const reports = await timeClaims({ waiting, endpoints, claims, runs, fsync: true, quiet });
  timed.push(...reports.map((report) => ({ ...report, endpoints })));
}
/** Of each kind of claim: what all runs say about it. */
const kinds = Object.values(
  Object.groupBy(timed, ({ what, endpoints }) => `${endpoints} endpoints: ${what}`),
).map((of) => of ?? []);
const shownMs = (values: readonly number[]) => `${values.map((value) => value.toFixed(1)).join(' ')} ms`;
console.log(
  `\n${tableOf(
    [
      `claims, ${waiting.toLocaleString('en-US')} deliveries waiting`,
      'endpoints',
      'claims',
      'each',
      'median',
      'p99',
      'worst',
      'p99 with a CPU',
      `p99 of the median run <= ${mostMs} ms`,
    ],
    kinds.map((of) => {
      const count = of.reduce((sum, one) => sum + one.claims, 0);
      const p99 = median(of.map((one) => one.p99));
      return [
        of[0]?.what ?? '',
        String(of[0]?.endpoints),
        String(count),
        (of.reduce((sum, one) => sum + one.deliveries, 0) / count).toFixed(0),
        shownMs(of.map((one) => one.median)),
        shownMs(of.map((one) => one.p99)),
        shownMs(of.map((one) => one.worst)),
        shownMs(of.map((one) => one.p99Undisturbed)),
        `${shownMs([p99])} ${verdict(p99 <= mostMs && of.every(({ problems }) => problems.length === 0))}`,
      ];
    }),
  )}\n`,
);
console.log(`${stolen()}; ${quiet.line}\n`);
const plans = timed.map(({ what, steps }) => `plan of a claim ${what}: ${steps.join(', ')}`);
for (const plan of new Set(plans)) console.log(plan);
for (const { what, problems } of timed) {
  for (const problem of problems.slice(0, 5)) console.log(`          ${what}: ${problem}`);
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
