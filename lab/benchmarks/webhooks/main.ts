/**
 * Measures deliveries per second against bare undici requests with the same bytes, in processes of their own that take
 * turns. See README.md.
 */
import { randomBytes } from 'node:crypto';
import { Benchmark } from '../../support/measure/benchmark.ts';
import { shown } from '../../support/measure/report.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import { inTurns, median, ratios } from '../../support/measure/statistics.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import { eventId } from '../queue/fixture.ts';
import type { Taken } from '../queue/servers/sink.ts';
import { bodyOf } from './fixture.ts';

async function measureDeliveries(bench: Benchmark): Promise<void> {
  const { rounds, count } = bench.isQuick ? { rounds: 3, count: 3_000 } : { rounds: 9, count: 20_000 };
  const bodyBytes = Buffer.byteLength(bodyOf(eventId(0)));
  const sink = await bench.start('sink');
  const bare = await bench.start('bare', { sink: sink.port });
  const sealingKey = randomBytes(32).toString('base64url');
  const ostiary = await bench.start('ostiary', { sink: sink.port, file: newDatabase(), sealingKey });
  await ostiary.ask('prepare');

  /** Deliveries per second. @throws Error when the sink did not get every one, whole */
  const measure = async (server: ServerProcess, way = ''): Promise<number> => {
    const seconds = await server.ask<number>('deliver', { count, way });
    const { received, bytes } = await sink.ask<Taken>('take');
    if (received !== count || bytes !== count * bodyBytes)
      throw new Error(`the sink got ${received} requests with ${bytes} bytes`);
    return count / seconds;
  };
  const rates = await inTurns(rounds, {
    bare: () => measure(bare, 'url'),
    ostiary: () => measure(ostiary),
    pool: () => measure(bare, 'pool'),
  });
  bench.compare({ name: 'deliveries', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } }, rates);
  bench.note(
    `each delivery is claimed, signed, sent, logged and settled, with every result on the disk; bodies have ${bodyBytes} bytes`,
  );
  const ofPool = median(ratios({ bare: rates.pool, ostiary: rates.ostiary })).toFixed(2);
  bench.note(
    `beside Pool.request, which is told the origin once and only the path each time, it is ${ofPool} (${shown(median(rates.pool))}/s)`,
  );
}

const benchmark = new Benchmark(import.meta.dirname, (bench) => ({
  measure: { deliveries: () => measureDeliveries(bench) },
}));
await benchmark.run();
