/**
 * Measures deliveries over PostgreSQL beside pg-boss and graphile-worker, on one server, in processes of their own that
 * take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { ratioTable, rowOf, shown } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { QuietTurns, watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type Arena, openArena } from './arena.ts';
import { contestantNames, descriptions } from './contestants.ts';
import { type Best, bestOf, compare, type Size, trySettings } from './drain.ts';
import { bodyBytes, inFlight } from './fixture.ts';
import { crews, measureGrowth } from './growth.ts';
import { measureLatency } from './latency.ts';

/** One of these has to be met: which of them is in reach depends on the machine. */
const peerTarget = { unit: '/s', scale: 1, ratio: { atLeast: 1.2 } };
const rawTarget = { name: 'deliveries, beside POSTs alone', unit: '/s', scale: 1, ratio: { atLeast: 0.8 } };
const perSecond = 200;
/** Of all turns of `drain`, repeated ones among them. */
const limitMs = 40 * 60_000;
const turns = new QuietTurns(limitMs);
const stolen = watchStolenTime();

/** Everyone's settings in turns, as a table. */
async function findBest(arena: Arena, size: Size): Promise<Best> {
  console.error('trying settings …');
  const trials = await trySettings(arena, turns, size);
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
  return best;
}

/** Deliveries of one process. @returns whether what is asked for is reached */
async function drain(arena: Arena, best: Best, size: Size): Promise<boolean> {
  const rates = await compare(arena, best, turns, size);
  const isBossFaster = median(rates['pg-boss']) > median(rates['graphile-worker']);
  const [faster, slower] = isBossFaster
    ? (['pg-boss', 'graphile-worker'] as const)
    : (['graphile-worker', 'pg-boss'] as const);
  const { ostiary } = rates;
  const name = `deliveries, beside the faster peer (${faster})`;
  const rows = [
    rowOf({ ...peerTarget, name }, { bare: rates[faster], ostiary }),
    rowOf(rawTarget, { bare: rates.raw, ostiary }),
  ];
  const hasPassed = rows.some(({ passed }) => passed);
  console.log(`\n${ratioTable(rows)}\n`);
  console.log(`one of the two is asked for: ${hasPassed ? 'PASS' : 'MISS'}`);
  console.log(turns.line);
  console.log(`${slower} makes ${shown(median(rates[slower]))}/s`);
  console.log(
    'only Ostiary logs every attempt, with its status, duration and answer, and keeps every delivery for its partner to look at',
  );
  return hasPassed;
}

async function latency(arena: Arena, best: Best, count: number): Promise<void> {
  const latencies = await measureLatency(arena, best, { perSecond, count });
  console.log(`\nfrom publish to arrival, ${perSecond} events a second in an open loop\n`);
  console.log(
    tableOf(
      ['', 'published by', 'p50', 'p99'],
      latencies.map(({ name, publisher, p50, p99 }) => [
        ...[name, publisher],
        ...[p50, p99].map((ms) => `${ms.toFixed(1)} ms`),
      ]),
    ),
  );
}

async function growth(arena: Arena, best: Best, size: Size): Promise<void> {
  const rates = await measureGrowth(arena, best, size);
  console.log('\nworkers that share a full queue, PostgreSQL and the sink on the same machine\n');
  console.log(
    tableOf(
      ['', ...crews.map((crew) => (crew === 1 ? '1 worker' : `${crew} workers`))],
      contestantNames.map((name) => [name, ...rates[name].map((rate) => `${shown(rate)}/s`)]),
    ),
  );
}

const benchmark = new Benchmark(import.meta.dirname, (bench) => {
  const size = bench.isQuick
    ? { tried: { rounds: 1, count: 1_000 }, rounds: 3, count: 2_000, latency: 400, growthRounds: 1 }
    : { tried: { rounds: 5, count: 10_000 }, rounds: 15, count: 20_000, latency: 4_000, growthRounds: 3 };
  let opened: Promise<{ arena: Arena; best: Best }> | null = null;
  const ready = () => {
    opened ??= openArena(bench).then(async (arena) => ({ arena, best: await findBest(arena, size.tried) }));
    return opened;
  };
  return {
    measure: {
      async drain() {
        const { arena, best } = await ready();
        bench.require(await drain(arena, best, size));
      },
      async latency() {
        const { arena, best } = await ready();
        await latency(arena, best, size.latency);
      },
      async growth() {
        const { arena, best } = await ready();
        await growth(arena, best, { rounds: size.growthRounds, count: size.count });
      },
    },
    async end() {
      await (await opened)?.arena.close();
      console.log(`\n${stolen()}`);
    },
  };
});
console.log(`PostgreSQL 18 with fsync and synchronous_commit, bodies of ${bodyBytes} bytes`);
console.log(`at most ${inFlight} POSTs of one process under way\n`);
await benchmark.run();
