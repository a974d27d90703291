import { freePort } from '../../../support/free-port.ts';
import { inBatches } from '../../../support/measure/batches.ts';
import { measureRate } from '../../../support/measure/load.ts';
import { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import type { PostgresServer } from '../../../support/postgres/as-installed.ts';
import type { KnownAnswer } from '../../../support/postgres/bare-postgres.ts';
import { exportDay, users } from '../fixture.ts';
import { seedTransfersOnPostgres } from '../seed.ts';
import { built, startBareOnPostgres, startOstiary } from '../servers.ts';
import { readExport } from './export.ts';
import { answerOf, fields, type Group, requestsOf, requireFullAnswer } from './requests.ts';

/** Requests per second, beside a Koa server that answers the same after one look-up. */
export async function requestsOnPostgres(
  postgres: PostgresServer,
  group: Group,
  { rounds, requests: count }: { readonly rounds: number; readonly requests: number },
  flags: readonly string[],
): Promise<Comparison> {
  const ostiary = await startOstiary(flags, await postgres.newDatabase());
  const keys = group === 'verify' ? ostiary.passports : users.map(({ kid }) => kid);
  const known = await inBatches(keys, async (key, index): Promise<KnownAnswer> => {
    const text = await (await answerOf(group, ostiary, index)).text();
    if (index === 0) requireFullAnswer(group, JSON.parse(text));
    return [key, text];
  });
  const bare = await startBareOnPostgres(await postgres.newDatabase(), flags);
  await bare.ask('learn', known);

  const servers = { bare, ostiary: ostiary.server };
  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const name of ['bare', 'ostiary'] as const) {
      const { port } = servers[name];
      const requests = requestsOf(group, port, ostiary);
      const rate = await measureRate({ port, requests, count, expected: fields[group] });
      if (round >= 0) rates[name].push(rate);
    }
  }
  for (const server of Object.values(servers)) await server.stop();
  return rates;
}

/** Rows per second of exports over HTTP, and of the same rows read in pages and written out for nobody. */
export async function exportOnPostgres(
  postgres: PostgresServer,
  { exportRounds, rows }: { readonly exportRounds: number; readonly rows: number },
  flags: readonly string[],
): Promise<Comparison> {
  const database = await postgres.newDatabase();
  const ostiary = await startOstiary(flags, database);
  await seedTransfersOnPostgres(database, rows);
  const settings = { port: await freePort(), database };
  const bare = await ServerProcess.start(built('bare-postgres-export'), settings, flags);
  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  for (let round = -1; round < exportRounds; round += 1) {
    const rate = await bare.ask<number>('exportDay', exportDay);
    const started = performance.now();
    await readExport(ostiary, exportDay, rows);
    if (round < 0) continue;
    rates.bare.push(rate);
    rates.ostiary.push((rows * 1000) / (performance.now() - started));
  }
  await bare.stop();
  await ostiary.server.stop();
  return rates;
}
