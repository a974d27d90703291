/** What the queue costs: statements, claims on a large backlog, and size in the long run. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { shown } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { QuietTurns, watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { type ClaimReport, timeClaims } from './claims.ts';
import { soak } from './soak.ts';
import { countStatements } from './statements.ts';

const mostStatements = 3;
const mostMs = 20;
/** Of all runs of claims, repeated ones among them. */
const quietMs = 20 * 60_000;
/** What others may take of the processors in a run of claims: the slowest hundredth is looked at, and a hundredth decides it. */
const quietShare = 0.01;
/** In bytes: what is smaller is not printed. */
const worthPrinting = 64 * 1024;

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
const stolen = watchStolenTime();
const kib = (bytes: number) => `${shown(bytes / 1024)} KiB`;
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

async function proveStatements(): Promise<Claim[]> {
  const counts = await countStatements({ events, singles: 50, fsync: true });
  return counts.map(({ what, deliveries, claims: claimed, results, others, perDelivery }) =>
    claim(
      `${what}: at most ${mostStatements} statements a delivery`,
      perDelivery <= mostStatements,
      `${perDelivery.toFixed(3)}: ${claimed} claims, ${results} results, ${others} others, ${deliveries} deliveries`,
    ),
  );
}

/** What all runs of one kind of claim say about it. */
function claimOf(name: string, of: readonly ClaimReport[]): Claim {
  const msOf = (value: (one: ClaimReport) => number) => of.map((one) => value(one).toFixed(1)).join(' ');
  const p99 = median(of.map((one) => one.p99));
  const count = sumOf(of.map((one) => one.claims));
  const found =
    `${p99.toFixed(1)} ms: medians ${msOf((one) => one.median)}, p99 ${msOf((one) => one.p99)}, worst ` +
    `${msOf(({ worst }) => worst)} ms, ${(sumOf(of.map(({ deliveries }) => deliveries)) / count).toFixed(0)} each of ${count}`;
  const problems = of.flatMap((one) => one.problems);
  return { name, problems: p99 <= mostMs ? problems : [found, ...problems], found };
}

async function proveClaims(): Promise<Claim[]> {
  const quiet = new QuietTurns(quietMs, quietShare);
  const proven: Claim[] = [];
  for (const endpoints of [1, 100, 10_000]) {
    const reports = await timeClaims({ waiting, endpoints, claims, runs, fsync: true, quiet });
    for (const [what, of] of Map.groupBy(reports, (report) => report.what))
      proven.push(claimOf(`${endpoints} endpoints, claims ${what}: p99 at most ${mostMs} ms`, of));
    const plans = reports.map(({ what, steps }) => `plan of a claim ${what}: ${steps.join(', ')}`);
    for (const plan of new Set(plans)) console.log(plan);
  }
  console.log(`\n${shown(waiting)} deliveries waited; ${stolen()}; ${quiet.line}`);
  return proven;
}

async function proveSize(): Promise<Claim[]> {
  const sampleSeconds = Math.min(30, minutes * 3);
  const soaked = await soak(
    { seconds: minutes * 60, sampleSeconds, group: 20, groupsPerSecond: 4, fsync: true },
    (total) => console.error(`everything together: ${kib(total)}`),
  );
  console.log(
    `\n${minutes} minutes, ${soaked.deliveries} deliveries, ${soaked.transfers} transfers, ${soaked.purged} rows purged; ` +
      `everything together every ${sampleSeconds} s: ${soaked.totals.map(kib).join(', ')}\n`,
  );
  const { growth } = soaked;
  const lineOf = ({ relation, isKept, thirds, factor }: (typeof growth)[number]) => [
    ...[relation, ...thirds.map(kib)],
    `${factor.toFixed(2)}${isKept ? ' per row' : ''}`,
  ];
  const large = growth.filter(({ thirds }) => Math.max(...thirds) >= worthPrinting);
  const heads = ['largest size in each third', 'first', 'second', 'last', 'growth'];
  console.log(`${tableOf(heads, large.map(lineOf))}\n`);
  return [
    {
      name: 'no table and no index grows',
      problems: growth.filter(({ holds }) => !holds).map((one) => lineOf(one).join(' ')),
    },
    { name: 'everything is delivered, and purged in time', problems: soaked.problems },
  ];
}

endProof([...(await proveStatements()), ...(await proveClaims()), ...(await proveSize())]);
