/** What the queue costs: statements, claims on a large backlog, and size in the long run. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { shown } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { type ClaimReport, timeClaims } from './claims.ts';
import { soak } from './soak.ts';
import { countStatements } from './statements.ts';

const mostStatements = 3;
const mostMs = 20;

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

async function proveStatements(): Promise<Claim[]> {
  const counts = await countStatements({ events, singles: 50, fsync: true });
  return counts.map(({ what, deliveries, perDelivery }) =>
    claim(
      `${what}: at most ${mostStatements} statements a delivery`,
      perDelivery <= mostStatements,
      `${perDelivery.toFixed(3)} for each of ${deliveries} deliveries`,
    ),
  );
}

/** What all runs of one kind of claim say about it. */
function claimOf(name: string, of: readonly ClaimReport[]): Claim {
  const p99 = median(of.map((one) => one.p99));
  const each = of.map(
    (one) => `${one.median.toFixed(1)} / ${one.p99.toFixed(1)} / ${one.worst.toFixed(1)} ms`,
  );
  const found = `${p99.toFixed(1)} ms; median, p99 and worst of each run: ${each.join(', ')}`;
  const problems = of.flatMap((one) => one.problems);
  return { name, problems: p99 <= mostMs ? problems : [found, ...problems], found };
}

async function proveClaims(): Promise<Claim[]> {
  const proven: Claim[] = [];
  for (const endpoints of [1, 100, 10_000]) {
    const reports = await timeClaims({ waiting, endpoints, claims, runs, fsync: true });
    for (const [what, of] of Map.groupBy(reports, (report) => report.what))
      proven.push(claimOf(`${endpoints} endpoints, claims ${what}: p99 at most ${mostMs} ms`, of));
  }
  console.log(`\n${shown(waiting)} deliveries waited; ${stolen()}`);
  return proven;
}

async function proveSize(): Promise<Claim[]> {
  const sampleSeconds = Math.min(30, minutes * 3);
  const size = { seconds: minutes * 60, sampleSeconds, eventsPerSecond: 80, fsync: true };
  const { growth, deliveries, purged, totals, problems } = await soak(size);
  console.log(
    `\n${minutes} minutes, ${deliveries} deliveries, ${purged} rows purged; ` +
      `everything together every ${sampleSeconds} s: ${totals.map(kib).join(', ')}\n`,
  );
  return [
    {
      name: 'no table and no index grows',
      problems: growth
        .filter(({ holds }) => !holds)
        .map(({ relation, thirds }) => `${relation}: ${thirds.map(kib).join(', then ')}`),
    },
    { name: 'everything is delivered, and purged in time', problems },
  ];
}

endProof([...(await proveStatements()), ...(await proveClaims()), ...(await proveSize())]);
