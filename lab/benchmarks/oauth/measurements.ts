import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { users } from '../../support/measure/directory.ts';
import { measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { type Comparison, inTurns } from '../../support/measure/statistics.ts';
import type { Child } from '../../support/processes/child.ts';
import { type ClientCredentials, claims, paths } from './fixture.ts';
import { exchanges, obtainTokens, type Starters } from './providers.ts';

/** A server, and live tokens for it, one per user. */
interface Userinfo {
  readonly server: Child;
  readonly tokens: readonly string[];
}

async function userinfoOf(server: Child): Promise<Userinfo> {
  const client = await server.ask<ClientCredentials>('prepare');
  const answers = await obtainTokens(server, client, users.length);
  return { server, tokens: answers.map(({ access_token }) => access_token) };
}

function requestsOf({ server: { port }, tokens }: Userinfo): RawRequest[] {
  return tokens.map((token) => rawRequest(port, paths.userinfo, { authorization: `Bearer ${token}` }));
}

function askUserinfo(side: Userinfo, count: number): Promise<number> {
  const load = { port: side.server.port, requests: requestsOf(side), count, expected: '"kid":"KID-' };
  return measureRate(load);
}

function askOnce({ server: { origin } }: Userinfo, token = ''): Promise<Response> {
  return fetch(origin + paths.userinfo, { headers: { authorization: `Bearer ${token}` } });
}

/** What a server answers to a token. @throws Error unless it is all that there is about the user, as both have to say it */
async function fullAnswer(side: Userinfo, token = side.tokens[0]) {
  const answer = await askOnce(side, token);
  const body = await answer.text();
  const said = JSON.parse(body);
  const user = users.find(({ sub }) => sub === said.sub);
  const expected = Object.fromEntries(claims.map((claim) => [claim, user?.[claim]]));
  if (!isDeepStrictEqual(said, expected)) throw new Error(`${answer.status} ${body}`);
  return { answer, body };
}

/** Nothing may be cached: a token that is revoked opens nothing at the very next request. @throws Error when it does */
async function requireFreshRead(side: Userinfo): Promise<void> {
  const [token] = side.tokens;
  await fetch(side.server.origin + paths.revoke, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const { status } = await askOnce(side, token);
  if (status !== 401) throw new Error(`a revoked token is answered with ${status}`);
}

/** Userinfo requests per second of both providers, and of a raw server that answers Ostiary's bytes. */
export async function measureUserinfo(start: Starters, rounds: number, count: number) {
  const bare = await userinfoOf(await start.bare());
  const ostiary = await userinfoOf(await start.ostiary());
  await fullAnswer(bare);
  const { answer, body } = await fullAnswer(ostiary);
  const raw = { ...ostiary, server: await start.raw(answer, body) };
  const rates = await inTurns(rounds, {
    bare: () => askUserinfo(bare, count),
    ostiary: () => askUserinfo(ostiary, count),
    raw: () => askUserinfo(raw, count),
  });
  await requireFreshRead(ostiary);
  return rates;
}

/** Both have to issue what the comparison is about. @throws Error when an ID token is not right */
async function requireIdToken(server: Child, client: ClientCredentials): Promise<void> {
  const [answer] = await obtainTokens(server, client, 1);
  await jwtVerify(answer?.id_token ?? '', createRemoteJWKSet(new URL(server.origin + paths.jwks)), {
    issuer: server.origin,
    audience: client.clientId,
    algorithms: ['RS256'],
    requiredClaims: ['sub'],
  });
}

/** Code exchanges per second: client secret in the form, ID token with RS256. Codes are minted before each round. */
export async function measureExchange(start: Starters, rounds: number, count: number): Promise<Comparison> {
  const sideOf = async (server: Child) => {
    const client = await server.ask<ClientCredentials>('prepare');
    await requireIdToken(server, client);
    return async () => {
      const requests = await exchanges(server, client, count);
      return measureRate({ port: server.port, requests, expected: '"id_token":"' });
    };
  };
  return inTurns(rounds, {
    bare: await sideOf(await start.bare()),
    ostiary: await sideOf(await start.ostiary()),
  });
}

/**
 * Milliseconds from the spawn to the first discovery document; Ostiary on a database that has its keys (the start that is not counted
 * creates it), the bare provider with a given key.
 */
export async function measureStart(start: Starters, rounds: number): Promise<Comparison> {
  const timed = (start: () => Promise<Child>) => async (): Promise<number> => {
    const started = performance.now();
    const server = await start();
    const response = await fetch(server.origin + paths.discovery);
    await response.json();
    const elapsed = performance.now() - started;
    if (response.status !== 200) throw new Error(`discovery answered ${response.status}`);
    await server.stop();
    return elapsed;
  };
  return inTurns(rounds, { bare: timed(start.bare), ostiary: timed(start.ostiary) });
}

/** Half a second after the last request nothing is under way any more. */
const settleMs = 500;

/** Mebibytes of resident memory after userinfo calls with as many live tokens as there are users, in a fresh process each. */
export async function measureMemory(start: Starters, rounds: number, calls: number): Promise<Comparison> {
  const measured = (start: () => Promise<Child>) => async (): Promise<number> => {
    const side = await userinfoOf(await start());
    await askUserinfo(side, calls);
    await delay(settleMs);
    const bytes = await side.server.ask<number>('resident');
    await side.server.stop();
    return bytes / 1024 ** 2;
  };
  return inTurns(rounds, { bare: measured(start.bare), ostiary: measured(start.ostiary) });
}
