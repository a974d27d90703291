/**
 * Measures the webhook verifier against other libraries and the bare computation, in processes that take
 * turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import { candidateNames } from './fixture.ts';

/** Required ratio of Ostiary's verifications per second to those of each compared verifier. */
const targets = { svix: 1, standardwebhooks: 1, stripe: 1, limit: 0.8 };

const bench = new Benchmark(import.meta.dirname);
await bench.run({
  async verifications() {
    const sides: Record<string, () => Promise<number>> = {};
    for (const name of candidateNames) {
      const worker = await bench.start('worker', { name });
      await worker.ask('verify', 65_536);
      // Use short rounds, so that other load on the machine hits all candidates of a round alike.
      sides[name] = () => worker.ask<number>('verify', 8_192);
    }
    const rates = await inTurns(bench.isQuick ? 9 : 51, sides);
    for (const [name, atLeast] of Object.entries(targets)) {
      const comparison = { bare: rates[name] ?? [], ostiary: rates.ostiary ?? [] };
      bench.compare({ name, unit: '/s', atLeast }, comparison);
    }
  },
});
