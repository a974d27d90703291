import { createHash } from 'node:crypto';
import { freePort } from '../../../support/free-port.ts';
import { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { exportDay, paths } from '../fixture.ts';
import { seedTransfers } from '../seed.ts';
import { built, type Ostiary, startOstiary } from '../servers.ts';

/** Rows per second, and by how many bytes the server grew in each round. */
export interface ExportFigures extends Comparison {
  readonly growth: readonly number[];
  /** By how many it grew before, when it was fresh. */
  readonly warmUpGrowth: number;
}

/** Reads a whole export as a client does, and checks that it is complete. @throws Error when it is not */
export async function readExport({ server, key }: Ostiary, day: string, rows: number): Promise<void> {
  const url = `http://127.0.0.1:${server.port}${paths.reconciliation}?date=${day}&format=ndjson`;
  const { status, body } = await fetch(url, { headers: { 'x-api-key': key } });
  if (status !== 200 || body === null) throw new Error(`the export was answered with ${status}`);
  const hash = createHash('sha256');
  // The summary is the last line: one chunk is kept back until it is known that it is not the last.
  let kept = Buffer.alloc(0);
  for await (const chunk of body) {
    const text = Buffer.concat([kept, chunk]);
    const cut = Math.max(0, text.length - 2_000);
    hash.update(text.subarray(0, cut));
    kept = text.subarray(cut);
  }
  const start = kept.lastIndexOf('\n', kept.length - 2) + 1;
  const { summary } = JSON.parse(kept.subarray(start).toString());
  if (summary.rows !== rows || summary.sha256 !== hash.update(kept.subarray(0, start)).digest('hex')) {
    throw new Error(`the export of ${day} is not complete: ${JSON.stringify(summary)}`);
  }
}

/** Exports of a day over HTTP, and the same rows read and written out by nothing but driver and JSON. */
export async function measureExport(options: {
  readonly rounds: number;
  readonly rows: number;
  readonly flags: readonly string[];
}): Promise<ExportFigures> {
  const { rounds, rows, flags } = options;
  const ostiary = await startOstiary(flags);
  seedTransfers(ostiary.file, rows);
  const bare = await ServerProcess.start(
    built('bare-export'),
    { port: await freePort(), file: ostiary.file },
    flags,
  );
  // V8 enlarges its young generation under any load that lasts: as with every figure, a round comes before the first one.
  const fresh = await ostiary.server.ask<number>('watchMemory');
  await readExport(ostiary, exportDay, rows);
  const warmUpGrowth = (await ostiary.server.ask<number>('peakMemory')) - fresh;
  await bare.ask('exportDay', exportDay);

  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  const growth: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    rates.bare.push(await bare.ask<number>('exportDay', exportDay));
    const before = await ostiary.server.ask<number>('watchMemory');
    const started = performance.now();
    await readExport(ostiary, exportDay, rows);
    rates.ostiary.push((rows * 1000) / (performance.now() - started));
    growth.push((await ostiary.server.ask<number>('peakMemory')) - before);
  }
  await bare.stop();
  await ostiary.server.stop();
  return { ...rates, growth, warmUpGrowth };
}
