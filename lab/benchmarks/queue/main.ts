/**
 * Measures Ostiary's webhook deliveries over PostgreSQL beside pg-boss and graphile-worker, on one server, in
 * separate processes that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { shown } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { tableOf } from '../../support/measure/table.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import { type Arena, openArena } from './arena.ts';
import { descriptions } from './contestants.ts';
import { type Best, bestOf, compare, crews, measureGrowth, trySettings } from './drain.ts';
import { bodyBytes, inFlight } from './fixture.ts';
import { measureLatency } from './latency.ts';
import { measurePublishing, publishers } from './publishing.ts';

const perSecond = 200;

const bench = new Benchmark(import.meta.dirname);
const size = bench.isQuick
  ? { tried: { rounds: 1, count: 1_000 }, rounds: 3, count: 2_000, latency: 400, growthRounds: 1 }
  : { tried: { rounds: 5, count: 10_000 }, rounds: 15, count: 20_000, latency: 4_000, growthRounds: 3 };
console.log(`PostgreSQL 18 with fsync and synchronous_commit, bodies of ${bodyBytes} bytes`);
console.log(`at most ${inFlight} POSTs of one process under way\n`);

let best: Best | null = null;

/** Finds the fastest setting of every queue library, once, before the first measurement. */
async function enter(postgres: TestPostgres | null): Promise<{ arena: Arena; best: Best }> {
  if (postgres === null) throw new Error('there is no PostgreSQL');
  const arena = await openArena(bench, postgres);
  if (best === null) {
    console.error('trying settings …');
    const trials = await trySettings(arena, size.tried);
    const found = bestOf(trials);
    const rows = trials.map(({ name, setting, rates }) => [
      name,
      JSON.stringify(descriptions[name].settings[setting]),
      `${shown(median(rates))}/s`,
      found[name] === setting ? 'best' : '',
    ]);
    console.log(tableOf(['', 'setting', 'deliveries', ''], rows));
    best = found;
  }
  return { arena, best };
}

await bench.run(
  {
    async drain(postgres) {
      const { arena, best: settings } = await enter(postgres);
      const rates = await compare(arena, settings, size);
      const { ostiary } = rates;
      const peers = (['pg-boss', 'graphile-worker'] as const).toSorted(
        (left, right) => median(rates[right]) - median(rates[left]),
      );
      for (const [index, name] of peers.entries()) {
        const figure = { name: `deliveries, beside ${name}`, unit: '/s' };
        // Only the faster peer has a target.
        bench.compare(index === 0 ? { ...figure, atLeast: 1.2 } : figure, { bare: rates[name], ostiary });
      }
      bench.compare({ name: 'deliveries, beside POSTs alone', unit: '/s' }, { bare: rates.raw, ostiary });
      bench.note(
        'only Ostiary logs every attempt, with its status, duration and answer, and keeps every delivery for its partner to look at',
      );
    },
    async latency(postgres) {
      const { arena, best: settings } = await enter(postgres);
      const latencies = await measureLatency(arena, settings, { perSecond, count: size.latency });
      const ofOthers = latencies.filter(({ publisher }) => publisher === 'another process');
      const [ours, ...theirs] = ofOthers.map(({ p50 }) => p50 * 1_000);
      const figure = { name: 'from publish to arrival, beside the faster peer', unit: ' µs', atMost: 1.5 };
      bench.compare(figure, { bare: [Math.min(...theirs)], ostiary: [ours ?? Number.NaN] });
      const rows = latencies.map(({ name, publisher, p50, p99 }) => [
        ...[name, publisher],
        ...[p50, p99].map((ms) => `${ms.toFixed(1)} ms`),
      ]);
      bench.note(`\nfrom publish to arrival, ${perSecond} events a second in an open loop\n`);
      bench.note(tableOf(['', 'published by', 'p50', 'p99'], rows));
    },
    async publishing(postgres) {
      const { arena, best: settings } = await enter(postgres);
      const { rounds, count } = size;
      const { silent, telling } = await measurePublishing(arena, settings, { rounds, count: count / 4 });
      const name = `events of ${publishers} publishers, told beside not told`;
      bench.compare({ name, unit: '/s', atLeast: 0.95 }, { bare: silent, ostiary: telling });
    },
    async growth(postgres) {
      const { arena, best: settings } = await enter(postgres);
      const growth = await measureGrowth(arena, settings, { rounds: size.growthRounds, count: size.count });
      const rows = growth.map(({ name, medians }) => [name, ...medians.map((rate) => `${shown(rate)}/s`)]);
      bench.note('\nworkers that share a full queue, PostgreSQL and the sink on the same machine\n');
      bench.note(tableOf(['', ...crews.map((crew) => `${crew} at once`)], rows));
    },
  },
  ['postgres'],
);
