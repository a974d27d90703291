import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import { getRequest, measureRate, type RawRequest } from '../../support/measure/load.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import { type Comparison, inTurns } from '../../support/measure/statistics.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import type { KnownAnswer } from '../../support/postgres/bare-postgres.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import { type ClientCredentials, paths, scope, userCount, users } from './fixture.ts';
import {
  exchanges,
  obtainTokens,
  type ProviderName,
  prepare,
  startOnPostgres,
  startProvider,
} from './providers.ts';

/** A server, and requests with live tokens for it, one per user. */
interface Userinfo {
  readonly server: ServerProcess;
  readonly requests: readonly RawRequest[];
}

async function userinfoOf(server: ServerProcess): Promise<Userinfo> {
  const answers = await obtainTokens(server, await prepare(server), userCount);
  const requests = answers.map(({ access_token }) =>
    getRequest(server.port, paths.userinfo, { authorization: `Bearer ${access_token}` }),
  );
  return { server, requests };
}

function askUserinfo({ server: { port }, requests }: Userinfo, count: number): Promise<number> {
  return measureRate({ port, requests, count, expected: '"kid":"KID-' });
}

function tokenOf(request: RawRequest | undefined): string {
  return /Bearer (\S+)/.exec(request ?? '')?.[1] ?? '';
}

/** What a server answers to a token. @throws Error unless it is all that there is about the user, as both have to say it */
async function fullAnswer(
  { port }: ServerProcess,
  token: string,
): Promise<{ answer: Response; body: string }> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`http://127.0.0.1:${port}${paths.userinfo}`, { headers });
  const body = await answer.text();
  const { sub, ...fields } = JSON.parse(body);
  const { sub: _, ...expected } = users.get(sub) ?? { sub };
  if (JSON.stringify(Object.entries(fields).sort()) !== JSON.stringify(Object.entries(expected).sort())) {
    throw new Error(`${answer.status} ${body} for the scope ${scope}`);
  }
  return { answer, body };
}

/** Nothing may be cached: a token that is revoked opens nothing at the very next request. @throws Error when it does */
async function requireFreshRead({ server: { port }, requests }: Userinfo): Promise<void> {
  const token = tokenOf(requests[0]);
  await fetch(`http://127.0.0.1:${port}${paths.revoke}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const { status } = await fetch(`http://127.0.0.1:${port}${paths.userinfo}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (status !== 401) throw new Error(`a revoked token is answered with ${status}`);
}

/** Userinfo requests per second of both providers, and of a raw server that answers Ostiary's bytes. */
export async function userinfo(bench: Benchmark, rounds: number, count: number) {
  const bare = await userinfoOf(await startProvider(bench, 'bare'));
  const ostiary = await userinfoOf(await startProvider(bench, 'ostiary'));
  await fullAnswer(bare.server, tokenOf(bare.requests[0]));
  const { answer, body } = await fullAnswer(ostiary.server, tokenOf(ostiary.requests[0]));
  const raw = { server: await bench.startRaw(answer, body), requests: ostiary.requests.slice(0, 1) };
  const rates = await inTurns(rounds, {
    bare: () => askUserinfo(bare, count),
    ostiary: () => askUserinfo(ostiary, count),
    raw: () => askUserinfo(raw, count),
  });
  await requireFreshRead(ostiary);
  return rates;
}

/** Userinfo requests per second, beside a Koa server that answers the same after one look-up. */
export async function userinfoOnPostgres(
  bench: Benchmark,
  postgres: TestPostgres,
  rounds: number,
  count: number,
): Promise<Comparison> {
  const ostiary = await userinfoOf(await startOnPostgres(bench, await postgres.newDatabase()));
  const known: KnownAnswer[] = [];
  for (const token of ostiary.requests.map(tokenOf)) {
    known.push([token, (await fullAnswer(ostiary.server, token)).body]);
  }
  const server = await bench.start('bare-postgres', { database: await postgres.newDatabase() });
  await server.ask('learn', known);
  const rates = await inTurns(rounds, {
    bare: () => askUserinfo({ ...ostiary, server }, count),
    ostiary: () => askUserinfo(ostiary, count),
  });
  await requireFreshRead(ostiary);
  return rates;
}

/** Both have to issue what the comparison is about. @throws Error when an ID token is not right */
async function requireIdToken(server: ServerProcess, client: ClientCredentials): Promise<void> {
  const origin = `http://127.0.0.1:${server.port}`;
  const [answer] = await obtainTokens(server, client, 1);
  await jwtVerify(answer?.id_token ?? '', createRemoteJWKSet(new URL(origin + paths.jwks)), {
    issuer: origin,
    audience: client.clientId,
    algorithms: ['RS256'],
    requiredClaims: ['sub'],
  });
}

/** Code exchanges per second: client secret in the form, ID token with RS256. Codes are minted before each round. */
export async function measureExchange(
  servers: Readonly<Record<ProviderName, ServerProcess>>,
  rounds: number,
  count: number,
): Promise<Comparison> {
  const sideOf = async (server: ServerProcess) => {
    const client = await prepare(server);
    await requireIdToken(server, client);
    return async () => {
      const requests = await exchanges(server, client, count);
      return measureRate({ port: server.port, requests, expected: '"id_token":"' });
    };
  };
  return inTurns(rounds, { bare: await sideOf(servers.bare), ostiary: await sideOf(servers.ostiary) });
}

/**
 * Milliseconds from the spawn to the first discovery document; Ostiary on a database that has its keys (the start that is not counted
 * creates it), the bare provider with a given key.
 */
export function measureStart(bench: Benchmark, rounds: number): Promise<Comparison> {
  const file = newDatabase();
  const timeStart = async (name: ProviderName): Promise<number> => {
    const started = performance.now();
    const server = await startProvider(bench, name, file);
    const response = await fetch(`http://127.0.0.1:${server.port}${paths.discovery}`);
    await response.json();
    const elapsed = performance.now() - started;
    if (response.status !== 200) throw new Error(`discovery answered ${response.status}`);
    await server.stop();
    return elapsed;
  };
  return inTurns(rounds, { bare: () => timeStart('bare'), ostiary: () => timeStart('ostiary') });
}

/** Bytes of resident memory after userinfo calls with as many live tokens as there are users, in a fresh process each. */
export async function measureMemory(bench: Benchmark, rounds: number, calls: number): Promise<Comparison> {
  const bytes: Record<ProviderName, number[]> = { bare: [], ostiary: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['bare', 'ostiary'] as const) {
      const side = await userinfoOf(await startProvider(bench, name));
      await askUserinfo(side, calls);
      bytes[name].push(await side.server.ask<number>('memory'));
      await side.server.stop();
    }
  }
  return bytes;
}
