/**
 * Measures the time of every storage operation as the tables grow, and checks that old rows are purged as
 * quickly as new rows arrive. See ../README.md.
 */
import { numbersFrom } from '../../support/arguments.ts';
import { shown } from '../../support/measure/report.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { flat, growthClaim } from './claims.ts';
import { type Filled, filled, measure, settingsWith } from './measure.ts';
import { keepUp } from './purge.ts';

const { rows, calls, minutes, rate } = numbersFrom({
  /** Rows per table in the largest size; the other two sizes have a tenth and a hundredth of that number. */
  rows: 10_000_000,
  /** Number of calls of each operation for each table size, at most 400. */
  calls: 200,
  /** Time for which events are added and purged, in minutes. */
  minutes: 10,
  /** Number of published events per second. */
  rate: 2_000,
});
const stolen = watchStolenTime();
const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(2)} GiB`;

async function proveGrowth(server: Awaited<ReturnType<typeof startServer>>, places: readonly Filled[]) {
  const rounds = 10;
  const all = await measure(server, places, { first: 20, rounds, perRound: calls / rounds });
  for (const [name, taken] of all) {
    const plans = Map.groupBy(taken, ({ plan }) => plan);
    for (const [plan, of] of plans)
      console.log(
        `${name}${plans.size === 1 ? '' : `, ${of.map(({ size }) => shown(size)).join(', ')}`}: ${plan}`,
      );
  }
  console.log(`\n${stolen()}`);
  return [...all].map(([name, taken]) => growthClaim(name, taken, flat));
}

async function provePurge(server: Awaited<ReturnType<typeof startServer>>, place: Filled): Promise<Claim[]> {
  const restSeconds = minutes * 6;
  const pace = { seconds: minutes * 60, perSecond: rate, restSeconds };
  const { moments, failures, published, finished, publishMs } = await keepUp(server, place, pace);
  const cells = moments.map((one) => [
    ...[one.due, one.backlog, one.batches].map(shown),
    one.batchMs.toFixed(1),
    ...[gib(one.tables), gib(one.indexes), shown(one.dead), shown(one.vacuums)],
  ]);
  const heads = ['due', 'backlog', 'batches', 'ms a batch', 'tables', 'indexes', 'dead', 'vacuums'];
  console.log(`\n${tableOf(heads, cells)}\n`);
  const half = moments.slice(Math.floor(moments.length / 2));
  const backlog = Math.max(...half.map((one) => one.backlog));
  const found = `${shown(backlog)} rows at most in the second half`;
  const rest = `${shown(published)} published (${publishMs.toFixed(1)} ms for 50), ${shown(finished)} delivered`;
  return [
    claim(
      'the purge keeps up: never more waits than comes until the run after the next',
      backlog <= 2 * restSeconds * rate,
      found,
    ),
    claim('events are published and delivered at that rate', finished >= 0.98 * minutes * 60 * rate, rest),
    { name: 'nothing fails meanwhile', problems: failures },
  ];
}

await using ends = new AsyncDisposableStack();
const server = await startServer({ settings: settingsWith('2GB') });
ends.defer(() => server.remove());
const places: Filled[] = [];
for (const size of [rows / 100, rows / 10, rows]) {
  const place = await filled(ends, server, size);
  places.push(place);
  console.log(`${shown(size)} rows in each table after ${place.seconds.toFixed(0)} s`);
}
console.log('');
const claims = await proveGrowth(server, places);
const [, , largest] = places;
if (minutes > 0 && largest !== undefined) claims.push(...(await provePurge(server, largest)));
console.log(`\n${stolen()}\n`);
await ends.disposeAsync();
endProof(claims);
