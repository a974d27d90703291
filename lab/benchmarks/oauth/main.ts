/**
 * Measures Ostiary on SQLite against a bare oidc-provider with a Map, in processes of their own that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import type { Target } from '../../support/measure/report.ts';
import {
  measureExchange,
  measureMemory,
  measureStart,
  userinfo,
  userinfoOnPostgres,
} from './measurements.ts';
import { startOnPostgres, startProvider } from './providers.ts';

const targets = {
  userinfo: { name: 'userinfo', unit: '/s', scale: 1, ratio: { atLeast: 2 } },
  exchange: { name: 'code exchange', unit: '/s', scale: 1, ratio: { atLeast: 1 } },
  start: { name: 'start', unit: ' ms', scale: 1, ratio: { atMost: 1.3 } },
  memory: { name: 'resident memory', unit: ' MiB', scale: 1 / 1024 ** 2, ratio: { atMost: 1.2 } },
} as const satisfies { readonly [name: string]: Target };

const benchmark = new Benchmark(import.meta.dirname, (bench) => {
  const size = bench.isQuick
    ? { rounds: 3, userinfo: 6_000, exchangeRounds: 3, exchange: 300, memoryRounds: 1, memoryCalls: 5_000 }
    : {
        ...{ rounds: 9, userinfo: 30_000, exchangeRounds: 21, exchange: 2_000 },
        ...{ memoryRounds: 3, memoryCalls: 100_000 },
      };
  return {
    measure: {
      async userinfo() {
        const rates = await userinfo(bench, size.rounds, size.userinfo);
        bench.compare(targets.userinfo, rates);
        bench.noteShare('userinfo', rates.ostiary, rates.raw);
      },
      async exchange() {
        const servers = {
          bare: await startProvider(bench, 'bare'),
          ostiary: await startProvider(bench, 'ostiary'),
        };
        bench.compare(targets.exchange, await measureExchange(servers, size.exchangeRounds, size.exchange));
      },
      async start() {
        bench.compare(targets.start, await measureStart(bench, size.rounds));
      },
      async memory() {
        bench.compare(targets.memory, await measureMemory(bench, size.memoryRounds, size.memoryCalls));
      },
    },
    onPostgres: {
      async userinfo(postgres) {
        const rates = await userinfoOnPostgres(bench, postgres, size.rounds, size.userinfo / 3);
        bench.inform({ ...targets.userinfo, name: 'userinfo, beside one look-up' }, rates);
      },
      async exchange(postgres) {
        const ostiary = await startOnPostgres(bench, await postgres.newDatabase());
        const servers = { bare: await startProvider(bench, 'bare'), ostiary };
        bench.inform(
          { ...targets.exchange, name: 'code exchange, beside oidc-provider in memory' },
          await measureExchange(servers, size.rounds, size.exchange),
        );
      },
    },
  };
});

await benchmark.run();
