/**
 * Measures the client SDK beside bare fetch, in processes that take turns, and finds leaks of many calls. See
 * README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { judged, shown } from '../../support/measure/report.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import type { Child } from '../../support/processes/child.ts';
import { callNames } from './fixture.ts';
import type { RoundRequest, RoundResult } from './servers/worker.ts';

/** Required rate of calls with the SDK, as a share of the rate of bare fetch. */
const atLeast = 0.8;
/**
 * Limit of heap growth after the first quarter of the calls. A leaked listener, timer or promise is more than
 * ten times as much.
 */
const mostBytesPerCall = 10;
const mostListeners = 0;

const bench = new Benchmark(import.meta.dirname);

function round(worker: Child, request: RoundRequest): Promise<RoundResult> {
  return worker.ask<RoundResult>('round', request);
}

async function measureCalls(origin: string): Promise<void> {
  // Use short rounds, so that other load on the machine hits both sides of a round alike.
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
    bench.compare({ name: call, unit: '/s', atLeast }, rates);
  }
}

async function lookForLeaks(origin: string): Promise<void> {
  const calls = bench.isQuick ? 10_000 : 100_000;
  const worker = await bench.start('worker', { side: 'ostiary', origin }, ['--expose-gc']);
  /** Calls all four compared SDK operations in turn. @returns the memory and listeners afterwards */
  const make = async (count: number): Promise<RoundResult> => {
    for (const call of callNames.slice(1)) await round(worker, { call, calls: count / 4, signal: true });
    return round(worker, { call: 'verify', calls: count / 4, signal: true });
  };
  const { heap: before, listeners: first } = await make(calls / 4);
  const { heap: after, listeners: last } = await make((calls * 3) / 4);
  const perCall = (after - before) / ((calls * 3) / 4);
  const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
  const leak = (cells: readonly string[], most: number, found: number): void => {
    const passed = found <= most;
    bench.add({ cells: [...cells, ...judged(`<= ${most}`, passed)], passed });
  };
  leak(['heap', kib(before), kib(after), `${perCall.toFixed(1)} B a call`, ''], mostBytesPerCall, perCall);
  const more = last - first;
  leak(['listeners', String(first), String(last), `${more} more`, ''], mostListeners, more);
  bench.note(`heap and listeners after a quarter and after all of ${shown(calls)} calls with one signal`);
}

await bench.run({
  async calls() {
    const { origin } = await bench.start('api', {}, []);
    await measureCalls(origin);
    await lookForLeaks(origin);
  },
});
