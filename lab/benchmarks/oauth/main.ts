/**
 * Measures Ostiary against a bare oidc-provider with a Map, in processes of their own that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import { measureExchange, measureMemory, measureStart, measureUserinfo } from './measurements.ts';
import { startersOf } from './providers.ts';

const bench = new Benchmark(import.meta.dirname);
const size = bench.isQuick
  ? {
      ...{ rounds: 3, userinfo: 6_000, exchangeRounds: 3, exchange: 300, alone: 100 },
      ...{ memoryRounds: 1, memoryCalls: 5_000 },
    }
  : {
      ...{ rounds: 9, userinfo: 30_000, exchangeRounds: 21, exchange: 2_000, alone: 300 },
      ...{ memoryRounds: 3, memoryCalls: 100_000 },
    };

await bench.run(
  {
    async userinfo(postgres) {
      const { ostiary, others, alone, bare } = await measureUserinfo(startersOf(bench, postgres), size);
      bench.compare({ name: 'userinfo', unit: '/s', atLeast: 2 }, { bare, ostiary });
      for (const [name, peer] of Object.entries(others))
        bench.compare({ name: `userinfo, beside ${name}`, unit: '/s' }, { bare: peer, ostiary });
      bench.compare({ name: 'userinfo, alone', unit: ' µs' }, alone);
    },
    async exchange(postgres) {
      const { ostiary, others, alone, bare } = await measureExchange(startersOf(bench, postgres), size);
      bench.compare({ name: 'code exchange', unit: '/s', atLeast: 1 }, { bare, ostiary });
      for (const [name, peer] of Object.entries(others))
        bench.compare({ name: `code exchange, beside ${name}`, unit: '/s' }, { bare: peer, ostiary });
      bench.compare({ name: 'code exchange, alone', unit: ' µs' }, alone);
    },
    async start(postgres) {
      const start = startersOf(bench, postgres, await hostSettings(postgres));
      const times = await measureStart(start, size.rounds);
      bench.compare({ name: 'start', unit: ' ms', atMost: 1.3 }, times);
    },
    async memory(postgres) {
      const mebibytes = await measureMemory(startersOf(bench, postgres), size.memoryRounds, size.memoryCalls);
      bench.compare({ name: 'resident memory', unit: ' MiB', atMost: 1.2 }, mebibytes);
    },
  },
  ['sqlite', 'postgres'],
);
