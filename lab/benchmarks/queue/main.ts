/**
 * Measures deliveries over PostgreSQL beside pg-boss and graphile-worker, on one server, in processes of their own that
 * take turns. See README.md.
 */
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { machine, ratioTable, rowOf } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { QuietTurns, watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { Arena } from './arena.ts';
import { contestantNames, descriptions } from './contestants.ts';
import { bodyBytes, inFlight } from './fixture.ts';
import { bestOf, compare, trySettings } from './measurements/drain.ts';
import { crews, measureGrowth } from './measurements/growth.ts';
import { measureLatency } from './measurements/latency.ts';
import { targets } from './targets.ts';

const { quick, strict, only, flags } = beginBenchmark(import.meta.dirname, {
  only: ['drain', 'latency', 'growth'],
});

const size = quick
  ? { tryRounds: 1, tryCount: 1_000, rounds: 3, count: 2_000, latency: 400, growthRounds: 1 }
  : { tryRounds: 5, tryCount: 10_000, rounds: 15, count: 20_000, latency: 4_000, growthRounds: 3 };
const perSecond = 200;
/** Of all turns of `drain`, repeated ones among them. */
const limitMs = 40 * 60_000;
const shown = (value: number) => Math.round(value).toLocaleString('en-US');

console.log(`${machine()}, PostgreSQL 18 with fsync and synchronous_commit`);
console.log(`bodies of ${bodyBytes} bytes, at most ${inFlight} POSTs of one process under way\n`);

const stolen = watchStolenTime();
const turns = new QuietTurns(limitMs);
const arena = await Arena.open(flags);
console.error('trying settings …');
const trials = await trySettings(arena, turns, { rounds: size.tryRounds, count: size.tryCount });
const best = bestOf(trials);
console.log(
  tableOf(
    ['', 'setting', 'deliveries', 'spread', ''],
    trials.map(({ name, setting, rates }) => [
      name,
      JSON.stringify(descriptions[name].settings[setting]),
      `${shown(median(rates))}/s`,
      `${shown(Math.min(...rates))} to ${shown(Math.max(...rates))}`,
      best[name] === setting ? 'best' : '',
    ]),
  ),
);

let hasPassed = true;
if (only.has('drain')) {
  const rates = await compare(arena, best, turns, size);
  const faster = median(rates['pg-boss']) > median(rates['graphile-worker']) ? 'pg-boss' : 'graphile-worker';
  const slower = faster === 'pg-boss' ? 'graphile-worker' : 'pg-boss';
  const rows = [
    rowOf(
      { ...targets.peer, name: `${targets.peer.name} (${faster})` },
      { bare: rates[faster], ostiary: rates.ostiary },
    ),
    rowOf(targets.raw, { bare: rates.raw, ostiary: rates.ostiary }),
  ];
  hasPassed = rows.some(({ passed }) => passed);
  console.log(`\n${ratioTable(rows)}\n`);
  console.log(`one of the two is asked for: ${hasPassed ? 'PASS' : 'MISS'}`);
  console.log(turns.line);
  console.log(`${slower} makes ${shown(median(rates[slower]))}/s`);
  console.log(
    'only Ostiary logs every attempt, with its status, duration and answer, and keeps every delivery for its partner to look at',
  );
}

if (only.has('latency')) {
  console.error(`measuring latency at ${perSecond}/s …`);
  const latencies = await measureLatency(arena, best, { perSecond, count: size.latency });
  console.log(`\nfrom publish to arrival, ${perSecond} events a second in an open loop\n`);
  console.log(
    tableOf(
      ['', 'published by', 'p50', 'p99'],
      latencies.map(({ name, publisher, p50, p99 }) => [
        name,
        publisher,
        `${p50.toFixed(1)} ms`,
        `${p99.toFixed(1)} ms`,
      ]),
    ),
  );
}

if (only.has('growth')) {
  console.error('measuring growth …');
  const growth = await measureGrowth(arena, best, size.growthRounds, size.count);
  console.log('\nworkers that share a full queue, PostgreSQL and the sink on the same machine\n');
  console.log(
    tableOf(
      ['', ...crews.map((crew) => (crew === 1 ? '1 worker' : `${crew} workers`))],
      contestantNames.map((name) => [name, ...growth[name].map((rate) => `${shown(rate)}/s`)]),
    ),
  );
}

console.log(`\n${stolen()}`);
await arena.close();
// Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
process.exit(strict && !hasPassed ? 1 : 0);
