import { percentile } from '../../support/measure/statistics.ts';
import type { Arena } from './arena.ts';
import { type ContestantName, contestantNames } from './contestants.ts';
import type { Best } from './drain.ts';
import type { Published } from './servers/contestant.ts';

/**
 * Measures the milliseconds from the publishing call to the arrival of the webhook at the receiver. The
 * publisher is the delivering process or another process, and all queue libraries have the same moderate
 * rate.
 * @throws Error if an event does not arrive
 */
export async function measureLatency(
  arena: Arena,
  best: Best,
  load: { readonly perSecond: number; readonly count: number },
) {
  const latencies: { name: ContestantName; publisher: string; p50: number; p99: number }[] = [];
  for (const publisher of ['same process', 'another process']) {
    for (const name of contestantNames) {
      const worker = await arena.start(name, best[name]);
      const other = await arena.start(name, best[name]);
      const source = publisher === 'same process' ? worker : other;
      await worker.ask('start');
      // Warm up with one second of the same load, so that code is compiled and connections are open.
      const warmUp = { ...load, count: load.perSecond };
      const measure = async (request: typeof load) => {
        await arena.sink.ask('take');
        const all = arena.sink.ask('expect', request.count);
        const published = await source.ask<Published[]>('publishAt', request);
        await all;
        const arrivals = new Map(await arena.sink.ask<Published[]>('arrivals'));
        return published.map(([id, at]) => (arrivals.get(id) ?? Number.NaN) - at);
      };
      await measure(warmUp);
      const waits = await measure(load);
      if (waits.some(Number.isNaN)) throw new Error(`not every event of ${name} arrived`);
      await worker.ask('stop');
      for (const server of [worker, other]) await server.stop();
      latencies.push({ name, publisher, p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) });
    }
  }
  return latencies;
}
