/**
 * Measures Ostiary against a bare oidc-provider with a Map, in separate processes that take turns. See
 * README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { measureAlone, measureRate } from '../../support/measure/load.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import { exchangeSides, measureMemory, measureStart, type Sides, userinfoSides } from './measurements.ts';
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

/**
 * Adds lines to the report that compare Ostiary with each other provider in requests per second, and with the
 * bare provider also in the time of a single request.
 */
async function compareAll(name: string, atLeast: number, rounds: number, count: number, sides: Sides) {
  const rates = await inTurns<string>(
    rounds,
    Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, () => side(measureRate, count)])),
  );
  for (const [other, bare] of Object.entries(rates)) {
    if (other === 'ostiary') continue;
    const figure = other === 'bare' ? { name, atLeast } : { name: `${name}, beside ${other}` };
    bench.compare({ ...figure, unit: '/s' }, { bare, ostiary: rates.ostiary ?? [] });
  }
  const alone = await inTurns(size.rounds, {
    bare: () => sides.bare(measureAlone, size.alone),
    ostiary: () => sides.ostiary(measureAlone, size.alone),
  });
  bench.compare({ name: `${name}, alone`, unit: ' µs' }, alone);
}

await bench.run(
  {
    async userinfo(postgres) {
      const { sides, requireFreshRead } = await userinfoSides(startersOf(bench, postgres));
      await compareAll('userinfo', 2, size.rounds, size.userinfo, sides);
      await requireFreshRead();
    },
    async exchange(postgres) {
      const sides = await exchangeSides(startersOf(bench, postgres));
      await compareAll('code exchange', 1, size.exchangeRounds, size.exchange, sides);
    },
    async start(postgres) {
      const start = startersOf(bench, postgres, await hostSettings(postgres));
      const times = await measureStart(start, size.rounds);
      bench.compare({ name: 'start', unit: ' ms', atMost: 1.2 }, times);
    },
    async memory(postgres) {
      const mebibytes = await measureMemory(startersOf(bench, postgres), size.memoryRounds, size.memoryCalls);
      bench.compare({ name: 'resident memory', unit: ' MiB', atMost: 1.2 }, mebibytes);
    },
  },
  ['sqlite', 'postgres'],
);
