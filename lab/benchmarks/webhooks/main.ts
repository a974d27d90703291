/**
 * Measures webhook deliveries per second against bare undici requests with the same bytes, in separate
 * processes that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import { bodyBytes } from '../queue/fixture.ts';
import type { Taken } from '../queue/servers/sink.ts';

const bench = new Benchmark(import.meta.dirname);
const { rounds, count } = bench.isQuick ? { rounds: 3, count: 3_000 } : { rounds: 9, count: 20_000 };

await bench.run({
  async deliveries() {
    const sink = await bench.start('sink');
    const bare = await bench.start('bare', { sink: sink.port });
    const ostiary = await bench.start('ostiary', {
      ...(await hostSettings(null)),
      ...{ sink: sink.port, setting: 0, firstNumber: 0 },
    });
    await ostiary.ask('prepare');

    /**
     * Measures webhook deliveries per second. @throws Error if the receiver did not get every delivery
     * completely
     */
    const measure = async (work: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await work();
      const seconds = (performance.now() - started) / 1000;
      const { received, bytes } = await sink.ask<Taken>('take');
      if (received !== count || bytes !== count * bodyBytes)
        throw new Error(`the sink got ${received} requests with ${bytes} bytes`);
      return count / seconds;
    };
    const rates = await inTurns(rounds, {
      async bare() {
        await bare.ask('sign', count);
        return measure(() => bare.ask('post'));
      },
      async ostiary() {
        await ostiary.ask('prefill', count);
        return measure(async () => {
          const arrived = sink.ask('expect', count);
          await ostiary.ask('start');
          await arrived;
          // `stop` returns once the last result is on the disk.
          await ostiary.ask('stop');
        });
      },
    });
    bench.compare({ name: 'deliveries', unit: '/s', atLeast: 0.5 }, rates);
    bench.note(
      `each delivery is claimed, signed, sent, logged and settled, with every result on the disk; bodies have ${bodyBytes} bytes`,
    );
  },
});
