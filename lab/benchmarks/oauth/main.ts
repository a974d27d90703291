/**
 * Measures Ostiary on SQLite against a bare oidc-provider with a Map, in processes of their own that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import {
  measureExchange,
  measureMemory,
  measureStart,
  userinfo,
  userinfoOnPostgres,
} from './measurements.ts';

const bench = new Benchmark(import.meta.dirname);
const size = bench.isQuick
  ? { rounds: 3, userinfo: 6_000, exchangeRounds: 3, exchange: 300, memoryRounds: 1, memoryCalls: 5_000 }
  : {
      ...{ rounds: 9, userinfo: 30_000, exchangeRounds: 21, exchange: 2_000 },
      ...{ memoryRounds: 3, memoryCalls: 100_000 },
    };

await bench.run({
  measure: {
    async userinfo() {
      const rates = await userinfo(bench, size.rounds, size.userinfo);
      bench.compare({ name: 'userinfo', unit: '/s', atLeast: 2 }, rates);
      bench.noteShare('userinfo', rates.ostiary, rates.raw);
    },
    async exchange() {
      const rates = await measureExchange(bench, size.exchangeRounds, size.exchange);
      bench.compare({ name: 'code exchange', unit: '/s', atLeast: 1 }, rates);
    },
    async start() {
      bench.compare({ name: 'start', unit: ' ms', atMost: 1.3 }, await measureStart(bench, size.rounds));
    },
    async memory() {
      const mebibytes = await measureMemory(bench, size.memoryRounds, size.memoryCalls);
      bench.compare({ name: 'resident memory', unit: ' MiB', atMost: 1.2 }, mebibytes);
    },
  },
  onPostgres: {
    async userinfo(postgres) {
      const rates = await userinfoOnPostgres(bench, postgres, size.rounds, size.userinfo / 3);
      bench.compare({ name: 'userinfo, beside one look-up', unit: '/s' }, rates);
    },
    async exchange(postgres) {
      const rates = await measureExchange(bench, size.rounds, size.exchange, await postgres.newDatabase());
      bench.compare({ name: 'code exchange, beside oidc-provider in memory', unit: '/s' }, rates);
    },
  },
});
