/** Proof: workers claim deliveries from a large backlog quickly. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { shown } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { type ClaimReport, timeClaims } from './claims.ts';

const mostMs = 20;

const { waiting, claims, runs } = numbersFrom({
  waiting: 1_000_000,
  /** Number of claims of each kind in a run. */
  claims: 500,
  /** Number of runs of each kind of claim. */
  runs: 3,
});
const stolen = watchStolenTime();

/** Makes the guarantee about one kind of claiming deliveries from the reports of all runs. */
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

endProof(await proveClaims());
