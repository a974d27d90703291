/** Measures the client SDK beside bare fetch, in processes that take turns, and looks for what many calls leave over. See README.md. */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { judged, shown } from '../../support/measure/report.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import type { Child } from '../../support/processes/child.ts';
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

const bench = new Benchmark(import.meta.dirname);

function round(worker: Child, request: RoundRequest): Promise<RoundResult> {
  return worker.ask<RoundResult>('round', request);
}

async function measureCalls(origin: string): Promise<void> {
  // Short rounds, so that whatever else the machine does hits both sides of a round alike.
  const size = bench.isQuick
    ? { rounds: 7, calls: 500, warmUp: 2_000 }
    : { rounds: 41, calls: 1_500, warmUp: 8_000 };
  const bare = await bench.start('worker', { side: 'bare', origin });
  const ostiary = await bench.start('worker', { side: 'ostiary', origin });
  for (const call of callNames) {
    for (const worker of [bare, ostiary]) await round(worker, { call, calls: size.warmUp });
    const rateOf = async (worker: Child): Promise<number> =>
      (await round(worker, { call, calls: size.calls })).rate;
    const rates = await inTurns(size.rounds, { bare: () => rateOf(bare), ostiary: () => rateOf(ostiary) });
    bench.compare({ name: names[call], unit: '/s', atLeast }, rates);
  }
}

async function lookForLeaks(origin: string): Promise<void> {
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
  const leak = (cells: readonly string[], most: number, found: number): void => {
    const passed = found <= most;
    bench.add({ cells: [...cells, ...judged(`<= ${most}`, passed)], passed });
  };
  leak(['heap', kib(before), kib(after), `${perCall.toFixed(1)} B a call`, ''], mostBytesPerCall, perCall);
  const more = last - first;
  leak(['listeners', String(first), String(last), `${more} more`, ''], mostListeners, more);
  bench.note(`heap and listeners in the first and the last quarter of ${shown(calls)} calls with one signal`);
}

await bench.run({
  measure: {
    async calls() {
      const { origin } = await bench.start('api', {}, []);
      await measureCalls(origin);
      await lookForLeaks(origin);
    },
  },
});
