import { createHash } from 'node:crypto';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import { exportDay, paths } from './fixture.ts';
import { type Ostiary, startOstiary } from './measurements.ts';
import { seedTransfers, seedTransfersOnPostgres } from './seed.ts';

/**
 * Reads a whole export of transfers as a client does, and checks its content.
 * @param digests - digests of the exports so far
 * @returns the number of rows per second
 * @throws Error if the export is incomplete, or differs from earlier ones
 */
async function readExport(
  { server, key }: Pick<Ostiary, 'server' | 'key'>,
  rows: number,
  digests: Set<string>,
): Promise<number> {
  const started = performance.now();
  const url = `${server.origin}${paths.reconciliation}?date=${exportDay}&format=ndjson`;
  const { status, body } = await fetch(url, { headers: { 'x-api-key': key } });
  if (status !== 200 || body === null) throw new Error(`the export was answered with ${status}`);
  const hash = createHash('sha256');
  // Keep the last 2,000 bytes back, because they contain the last line: the summary, which is not part of the
  // digest.
  let kept = Buffer.alloc(0);
  for await (const chunk of body) {
    const text = Buffer.concat([kept, chunk]);
    const cut = Math.max(0, text.length - 2_000);
    hash.update(text.subarray(0, cut));
    kept = text.subarray(cut);
  }
  const start = kept.lastIndexOf('\n', kept.length - 2) + 1;
  const { summary } = JSON.parse(kept.subarray(start).toString());
  const digest = hash.update(kept.subarray(0, start)).digest('hex');
  // The summary of the bare server has no digest, but its rows are the same.
  if (summary.rows !== rows || (summary.sha256 ?? digest) !== digest || digests.add(digest).size > 1) {
    throw new Error(`the export of ${exportDay} is not complete: ${JSON.stringify(summary)}, ${digest}`);
  }
  return (rows * 1000) / (performance.now() - started);
}

/**
 * Measures exports of one day's transfers over HTTP, beside a minimal export: on SQLite a loop over the same
 * rows, on PostgreSQL Koa and pages.
 */
export async function measureExport(
  bench: Benchmark,
  postgres: TestPostgres | null,
  { exportRounds, rows }: { readonly exportRounds: number; readonly rows: number },
) {
  const ostiary = await startOstiary(bench, postgres);
  const { server, file, database, key } = ostiary;
  const digests = new Set<string>();
  if (database === null) seedTransfers(file, rows);
  else await seedTransfersOnPostgres(database, rows);
  const bare = await (database === null
    ? bench.start('bare-export', { file })
    : bench.start('koa-export', { database }));
  const before = await server.ask<number>('resident');
  const peaks: number[] = [];
  const rates = await inTurns(exportRounds, {
    bare: () =>
      database === null
        ? bare.ask<number>('exportDay', exportDay)
        : readExport({ server: bare, key }, rows, digests),
    async ostiary() {
      const rate = await readExport(ostiary, rows, digests);
      peaks.push(await server.ask<number>('peak'));
      return rate;
    },
  });
  // Growth after the warm-up round: V8 enlarges its young generation under any long load.
  const [warm = 0] = peaks;
  return { ...rates, growth: (peaks.at(-1) ?? Number.NaN) - warm, warmUpGrowth: warm - before };
}
