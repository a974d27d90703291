/**
 * Measures the cost of each operation: number of SQL statements, and processor time of web process, worker
 * and PostgreSQL. Linux only. See ../README.md.
 */
import { numbersFrom } from '../../support/arguments.ts';
import { machine } from '../../support/measure/report.ts';
import { watchStolenTime } from '../../support/measure/stolen-time.ts';
import { tableOf } from '../../support/measure/table.ts';
import { costOf, operationsOf } from './operations.ts';
import { setCostStage } from './stage.ts';

const { busy, alone } = numbersFrom({
  /** Number of calls of each operation with 16 concurrent callers. */
  busy: 3_000,
  /** Number of calls of each operation in sequence. */
  alone: 500,
});
const stolen = watchStolenTime();
await using ends = new AsyncDisposableStack();
const stage = await setCostStage(ends);
const rows: string[][] = [];
let isWorking = true;
for (const [name, prepare] of Object.entries(operationsOf(stage))) {
  // Stop the worker unless it is needed: its polling would be counted, too.
  const needsWorker = name.includes('delivered');
  if (needsWorker !== isWorking) await (needsWorker ? stage.worker?.start() : stage.worker?.stop());
  isWorking = needsWorker;
  // Warm up with calls that are not counted, because the first ones compile the code.
  await (await prepare(alone))(alone, 8);
  for (const [callers, count] of [
    [1, alone],
    [16, busy],
  ] as const) {
    const operation = await prepare(count);
    const { web, worker, database, statements } = await costOf(stage, operation, count, callers);
    const times = [web, worker, database].map((time) => `${Math.round(time)} µs`);
    rows.push([name, String(callers), ...times, statements.toFixed(2)]);
    console.error(rows.at(-1)?.join('  '));
  }
}
const heads = ['operation', 'callers', 'web', 'worker', 'PostgreSQL', 'statements'];
const tables = ['transfers', 'events', 'deliveries'] as const;
const sizes = await Promise.all(tables.map(async (table) => `${table} ${await stage.bytesOf(table)}`));
console.log(`${tableOf(heads, rows)}\n\nbytes of a row, with its indexes: ${sizes.join(', ')}`);
console.log(`${machine()}; ${stolen()}`);
// Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
await ends.disposeAsync();
process.exit(0);
