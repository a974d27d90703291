/** Measures the client SDK beside bare fetch, in processes that take turns, and looks for what many calls leave over. See README.md. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { machine, ratioTable, rowOf } from '../../support/measure/report.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type CallName, callNames } from './fixture.ts';
import { growth, targets } from './targets.ts';
import type { RoundRequest, RoundResult } from './worker.ts';

const { quick, flags } = beginBenchmark(import.meta.dirname);

// Short rounds, so that whatever else the machine does hits both sides of a round alike.
const size = quick
  ? { rounds: 7, calls: 500, warmUp: 2_000, growthCalls: 10_000 }
  : { rounds: 41, calls: 1_500, warmUp: 8_000, growthCalls: 100_000 };
const parts = 20;

const here = import.meta.dirname;
console.log(machine());

const server = await ServerProcess.start(join(here, 'dist/api.js'), { port: await freePort() }, []);

async function start(side: 'bare' | 'ostiary', execArgv: readonly string[]): Promise<ChildProcess> {
  const worker = fork(join(here, 'dist/worker.js'), [side, `http://127.0.0.1:${server.port}`], {
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' },
    execArgv: [...execArgv],
  });
  worker.on('exit', (code) => {
    if (code !== 0) process.exit(1);
  });
  await once(worker, 'message');
  return worker;
}

async function round(
  worker: ChildProcess,
  call: CallName,
  calls: number,
  signal = false,
): Promise<RoundResult> {
  worker.send({ call, calls, signal } satisfies RoundRequest);
  const [result] = (await once(worker, 'message')) as [RoundResult];
  return result;
}

const sides = { bare: await start('bare', flags), ostiary: await start('ostiary', flags) };
const rows = [];
for (const call of callNames) {
  const rates: { readonly bare: number[]; readonly ostiary: number[] } = { bare: [], ostiary: [] };
  for (const worker of Object.values(sides)) await round(worker, call, size.warmUp);
  for (let count = 0; count < size.rounds; count += 1) {
    // Nobody is always the first.
    const order = count % 2 === 0 ? (['bare', 'ostiary'] as const) : (['ostiary', 'bare'] as const);
    for (const side of order) rates[side].push((await round(sides[side], call, size.calls)).rate);
  }
  rows.push(rowOf(targets[call], rates));
}
for (const worker of Object.values(sides)) worker.disconnect();
console.log(`\n${ratioTable(rows)}\n`);

const worker = await start('ostiary', ['--expose-gc']);
const results: RoundResult[] = [];
for (let part = 0; part < parts; part += 1) {
  const call = callNames[part % callNames.length] ?? 'verify';
  results.push(await round(worker, call, size.growthCalls / parts, true));
}
worker.disconnect();
await server.stop();

/** The lowest of some rounds: what is not collected yet is no leak. */
const heapOf = (some: readonly RoundResult[]): number => Math.min(...some.map(({ heap }) => heap ?? 0));
const quarter = parts / 4;
const [before, after] = [heapOf(results.slice(0, quarter)), heapOf(results.slice(-quarter))];
const perCall = (after - before) / ((size.growthCalls * 3) / 4);
const [first, last] = [results[0]?.listeners ?? 0, results.at(-1)?.listeners ?? Number.NaN];
const kept = last - first;
const leaks = [
  {
    name: 'heap',
    cells: [
      `${Math.round(before / 1024)} KiB`,
      `${Math.round(after / 1024)} KiB`,
      `${perCall.toFixed(1)} B a call`,
    ],
    limit: `<= ${growth.bytesPerCall}`,
    passed: perCall <= growth.bytesPerCall,
  },
  {
    name: 'listeners',
    cells: [String(first), String(last), `${kept} more`],
    limit: `<= ${growth.listeners}`,
    passed: kept <= growth.listeners,
  },
];
console.log(`${size.growthCalls.toLocaleString('en-US')} calls with one signal\n`);
console.log(
  tableOf(
    ['', 'first quarter', 'last quarter', 'growth', 'target', ''],
    leaks.map(({ name, cells, limit, passed }) => [name, ...cells, limit, passed ? 'PASS' : 'MISS']),
  ),
);
if ([...rows, ...leaks].some(({ passed }) => !passed)) process.exitCode = 1;
