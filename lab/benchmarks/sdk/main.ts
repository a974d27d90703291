/** Measures the client SDK beside bare fetch, in processes that take turns, and looks for what many calls leave over. See README.md. */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { shown } from '../../support/measure/report.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type CallName, callNames } from './fixture.ts';
import type { RoundRequest, RoundResult } from './servers/worker.ts';

const names: Readonly<Record<CallName, string>> = {
  verify: 'passports.verify',
  create: 'payments.create',
  retrieve: 'payments.retrieve',
  list: 'payments.list, one page',
};
/** What the SDK has to reach beside bare fetch. */
const atLeast = 0.8;
/** Of heap, from the first quarter of the calls to the last. A kept listener, timer or promise is more than ten times as much. */
const mostBytesPerCall = 10;
const mostListeners = 0;
/** In which the calls that are looked at for what they leave over are made. */
const parts = 20;

function round(worker: ServerProcess, request: RoundRequest): Promise<RoundResult> {
  return worker.ask<RoundResult>('round', request);
}

async function measureCalls(bench: Benchmark, origin: string): Promise<void> {
  // Short rounds, so that whatever else the machine does hits both sides of a round alike.
  const size = bench.isQuick
    ? { rounds: 7, calls: 500, warmUp: 2_000 }
    : { rounds: 41, calls: 1_500, warmUp: 8_000 };
  const bare = await bench.start('worker', { side: 'bare', origin });
  const ostiary = await bench.start('worker', { side: 'ostiary', origin });
  for (const call of callNames) {
    for (const worker of [bare, ostiary]) await round(worker, { call, calls: size.warmUp });
    const rateOf = async (worker: ServerProcess): Promise<number> =>
      (await round(worker, { call, calls: size.calls })).rate;
    const rates = await inTurns(size.rounds, { bare: () => rateOf(bare), ostiary: () => rateOf(ostiary) });
    bench.compare({ name: names[call], unit: '/s', scale: 1, ratio: { atLeast } }, rates);
  }
}

async function lookForLeaks(bench: Benchmark, origin: string): Promise<void> {
  const calls = bench.isQuick ? 10_000 : 100_000;
  const worker = await bench.start('worker', { side: 'ostiary', origin }, ['--expose-gc']);
  const results: RoundResult[] = [];
  for (let part = 0; part < parts; part += 1) {
    const call = callNames[part % callNames.length] ?? 'verify';
    results.push(await round(worker, { call, calls: calls / parts, signal: true }));
  }
  /** The lowest of some rounds: what is not collected yet is no leak. */
  const heapOf = (some: readonly RoundResult[]): number => Math.min(...some.map(({ heap }) => heap ?? 0));
  const quarter = parts / 4;
  const [before, after] = [heapOf(results.slice(0, quarter)), heapOf(results.slice(-quarter))];
  const perCall = (after - before) / ((calls * 3) / 4);
  const [first, last] = [results[0]?.listeners ?? 0, results.at(-1)?.listeners ?? Number.NaN];
  const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
  const leaks = [
    {
      cells: ['heap', kib(before), kib(after), `${perCall.toFixed(1)} B a call`, `<= ${mostBytesPerCall}`],
      passed: perCall <= mostBytesPerCall,
    },
    {
      cells: ['listeners', String(first), String(last), `${last - first} more`, `<= ${mostListeners}`],
      passed: last - first <= mostListeners,
    },
  ];
  for (const { passed } of leaks) bench.require(passed);
  bench.note(`${shown(calls)} calls with one signal\n`);
  bench.note(
    tableOf(
      ['', 'first quarter', 'last quarter', 'growth', 'target', ''],
      leaks.map(({ cells, passed }) => [...cells, passed ? 'PASS' : 'MISS']),
    ),
  );
}

const benchmark = new Benchmark(
  import.meta.dirname,
  (bench) => ({
    measure: {
      async calls() {
        const { port } = await bench.start('api', {}, []);
        const origin = `http://127.0.0.1:${port}`;
        await measureCalls(bench, origin);
        await lookForLeaks(bench, origin);
      },
    },
  }),
  { isStrict: true },
);
await benchmark.run();
