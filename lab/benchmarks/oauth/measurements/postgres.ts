import { freePort } from '../../../support/free-port.ts';
import { measureRate } from '../../../support/measure/load.ts';
import { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import type { PostgresServer } from '../../../support/postgres/as-installed.ts';
import type { KnownAnswer } from '../../../support/postgres/bare-postgres.ts';
import { built, exchanges, prepare, startOnPostgres, startProvider } from '../providers.ts';
import {
  answerOf,
  requireFreshRead,
  requireFullAnswer,
  userinfoField,
  userinfoRequests,
} from './userinfo.ts';

interface Options {
  readonly rounds: number;
  readonly perRound: number;
  readonly flags: readonly string[];
}

/** Userinfo requests per second, beside a Koa server that answers the same after one look-up. */
export async function userinfoOnPostgres(
  postgres: PostgresServer,
  { rounds, perRound, flags }: Options,
): Promise<Comparison> {
  const ostiary = await startOnPostgres(await postgres.newDatabase(), flags);
  const requests = await userinfoRequests(ostiary);
  const known: KnownAnswer[] = [];
  for (const request of requests) {
    const token = /Bearer (\S+)/.exec(request)?.[1] ?? '';
    known.push([token, await requireFullAnswer('ostiary', await answerOf(ostiary, request))]);
  }
  const settings = { port: await freePort(), database: await postgres.newDatabase() };
  const bare = await ServerProcess.start(built('bare-postgres'), settings, flags);
  await bare.ask('learn', known);

  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  const measure = ({ port }: ServerProcess) =>
    measureRate({ port, requests, count: perRound, expected: userinfoField });
  const servers = { bare, ostiary };
  for (const server of Object.values(servers)) await measure(server);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['bare', 'ostiary'] as const) rates[name].push(await measure(servers[name]));
  }
  await requireFreshRead(ostiary, requests[0] ?? '');
  for (const server of Object.values(servers)) await server.stop();
  return rates;
}

/** Code exchanges per second, beside the bare oidc-provider that keeps everything in memory. */
export async function exchangeOnPostgres(
  postgres: PostgresServer,
  { rounds, perRound, flags }: Options,
): Promise<Comparison> {
  const bare = await startProvider('bare', flags);
  const ostiary = await startOnPostgres(await postgres.newDatabase(), flags);
  const runs = [
    { name: 'bare', server: bare, client: await prepare(bare) },
    { name: 'ostiary', server: ostiary, client: await prepare(ostiary) },
  ] as const;
  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, server, client } of runs) {
      const requests = await exchanges(server, client, perRound);
      const rate = await measureRate({ port: server.port, requests, expected: '"id_token":"' });
      if (round >= 0) rates[name].push(rate);
    }
  }
  for (const { server } of runs) await server.stop();
  return rates;
}
