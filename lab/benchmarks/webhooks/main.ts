/**
 * Measures deliveries per second against bare undici requests with the same bytes, in processes of their own that take
 * turns. See README.md.
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { machine, ratioTable, rowOf, type Target } from '../../support/measure/report.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { median, ratios } from '../../support/measure/statistics.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import { bodyOf, eventId } from './fixture.ts';

const { quick, strict, flags } = beginBenchmark(import.meta.dirname);

const target: Target = { name: 'deliveries', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } };
const { rounds, count } = quick ? { rounds: 3, count: 3_000 } : { rounds: 9, count: 20_000 };

console.log(machine());

async function start(name: string, settings: object): Promise<ServerProcess> {
  const file = fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url));
  return ServerProcess.start(file, { port: await freePort(), ...settings }, flags);
}

const sink = await start('sink', {});
const bare = await start('bare', { sink: sink.port });
const ostiary = await start('ostiary', {
  sink: sink.port,
  file: newDatabase(),
  sealingKey: randomBytes(32).toString('base64url'),
});
await ostiary.ask('prepare');

/** Deliveries per second. @throws Error when the sink did not get every one, whole */
async function measure([server, way]: readonly [ServerProcess, string]): Promise<number> {
  const seconds = await server.ask<number>('deliver', { count, way });
  const taken = await sink.ask<{ received: number; bytes: number }>('take');
  const bytes = count * Buffer.byteLength(bodyOf(eventId(0)));
  if (taken.received !== count || taken.bytes !== bytes) {
    throw new Error(`the sink got ${taken.received} requests with ${taken.bytes} bytes`);
  }
  return count / seconds;
}

const sides = { bare: [bare, 'url'], pool: [bare, 'pool'], ostiary: [ostiary, ''] } as const;
const rates: Record<keyof typeof sides, number[]> = { bare: [], pool: [], ostiary: [] };
for (const side of Object.values(sides)) await measure(side);
for (let round = 0; round < rounds; round += 1) {
  console.error(`round ${round + 1} of ${rounds} …`);
  for (const name of ['bare', 'ostiary', 'pool'] as const) rates[name].push(await measure(sides[name]));
}
for (const server of [bare, ostiary, sink]) await server.stop();

const row = rowOf(target, rates);
console.log(`\n${ratioTable([row])}\n`);
console.log(
  `each delivery is claimed, signed, sent, logged and settled, with every result on the disk; bodies have ${Buffer.byteLength(bodyOf(eventId(0)))} bytes`,
);
const ofPool = median(ratios({ bare: rates.pool, ostiary: rates.ostiary }));
console.log(
  `beside Pool.request, which is told the origin once and only the path each time, it is ${ofPool.toFixed(2)} (${Math.round(median(rates.pool)).toLocaleString('en-US')}/s)`,
);
if (strict && !row.passed) process.exitCode = 1;
