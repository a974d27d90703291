/**
 * Measures the webhook verifier against other libraries and the bare computation, in processes that take turns. See README.md.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { machine, ratioTable, rowOf } from '../../support/measure/report.ts';
import type { CandidateName } from './fixture.ts';
import { targets } from './targets.ts';
import type { RoundRequest, RoundResult } from './worker.ts';

const { quick, flags } = beginBenchmark(import.meta.dirname);

// Short rounds, so that whatever else the machine does hits all candidates of a round alike.
const size = { rounds: quick ? 9 : 51, verifications: 8_192, warmUp: 65_536 };
const names: readonly CandidateName[] = ['ostiary', 'limit', 'svix', 'standardwebhooks', 'stripe'];

async function answerOf(worker: ChildProcess): Promise<number> {
  const [{ rate }] = (await once(worker, 'message')) as [RoundResult];
  return rate;
}

async function round(worker: ChildProcess, verifications: number): Promise<number> {
  worker.send({ verifications } satisfies RoundRequest);
  return answerOf(worker);
}

console.log(machine());

const runs: { name: CandidateName; worker: ChildProcess; rates: number[] }[] = [];
for (const name of names) {
  const worker = fork(join(import.meta.dirname, 'dist/worker.js'), [name], {
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' },
    execArgv: [...flags],
  });
  worker.on('exit', (code) => {
    if (code !== 0) process.exit(1);
  });
  await answerOf(worker);
  await round(worker, size.warmUp);
  runs.push({ name, worker, rates: [] });
}
for (let count = 0; count < size.rounds; count += 1) {
  for (const { worker, rates } of runs) rates.push(await round(worker, size.verifications));
}
for (const { worker } of runs) worker.disconnect();

const ratesOf = (wanted: CandidateName): readonly number[] =>
  runs.find(({ name }) => name === wanted)?.rates ?? [];
const rows = Object.entries(targets).map(([name, target]) =>
  rowOf(target, { bare: ratesOf(name as CandidateName), ostiary: ratesOf('ostiary') }),
);
console.log(`\n${ratioTable(rows)}\n`);
if (rows.some(({ passed }) => !passed)) process.exitCode = 1;
