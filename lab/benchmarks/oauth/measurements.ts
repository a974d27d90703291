import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { jsonPost } from '../../support/http.ts';
import { users } from '../../support/measure/directory.ts';
import { type Load, measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { type Comparison, inTurns } from '../../support/measure/statistics.ts';
import type { Child } from '../../support/processes/child.ts';
import { type ClientCredentials, claims, paths, usual } from './fixture.ts';
import { exchanges, expectedOf, obtainTokens, type Starters } from './providers.ts';

/** Measures one provider with a given number of requests. */
type Side = (measure: (load: Load) => Promise<number>, count: number) => Promise<number>;

/** Providers that are measured in turn, by their names in the table. */
export interface Sides {
  readonly bare: Side;
  readonly ostiary: Side;
  readonly [peer: string]: Side;
}

/** A provider's server, and valid access tokens for that server, one per user. */
interface Userinfo {
  readonly server: Child;
  readonly path: string;
  readonly tokens: readonly string[];
}

async function userinfoOf(server: Child): Promise<Userinfo> {
  const client = await server.ask<ClientCredentials>('prepare');
  const answers = await obtainTokens(server, client, users.length);
  const { userinfo: path } = { ...usual, ...client.unusual };
  return { server, path, tokens: answers.map(({ access_token = '' }) => access_token) };
}

function requestsOf({ server: { port }, path, tokens }: Userinfo): RawRequest[] {
  return tokens.map((token) => rawRequest(port, path, { authorization: `Bearer ${token}` }));
}

function askUserinfo(side: Userinfo, count: number, measure = measureRate): Promise<number> {
  return measure({ port: side.server.port, requests: requestsOf(side), count, expected: '"kid":"KID-' });
}

function askOnce({ server: { origin }, path }: Userinfo, token = ''): Promise<Response> {
  return fetch(origin + path, { headers: { authorization: `Bearer ${token}` } });
}

/**
 * Returns the userinfo response for an access token. @throws Error unless the response contains all claims of
 * the user, which every compared provider must return
 */
async function fullAnswer(side: Userinfo, token = side.tokens[0]) {
  const answer = await askOnce(side, token);
  const body = await answer.text();
  const said = JSON.parse(body);
  const user = users.find(({ sub }) => sub === said.sub);
  const expected = Object.fromEntries(claims.map((claim) => [claim, user?.[claim]]));
  if (!isDeepStrictEqual(said, expected)) throw new Error(`${answer.status} ${body}`);
  return { answer, body };
}

/**
 * Checks that a provider does not cache tokens: the first userinfo request after a revocation must fail.
 * @throws Error if the request succeeds
 */
async function requireFreshRead(side: Userinfo): Promise<void> {
  const [token] = side.tokens;
  await fetch(side.server.origin + paths.revoke, jsonPost({ token }));
  const { status } = await askOnce(side, token);
  if (status !== 401) throw new Error(`a revoked token is answered with ${status}`);
}

/**
 * Makes the function that measures userinfo requests to a server. @param share - share of the usual number of
 * requests @throws Error if the server's response is incomplete
 */
async function userinfoSide(one: Userinfo, share = 1): Promise<Side> {
  await fullAnswer(one);
  return (measure, count) => askUserinfo(one, count * share, measure);
}

/**
 * Starts the compared providers, and makes functions that measure userinfo requests: to Ostiary and the bare
 * provider, to a raw server that sends Ostiary's bytes, and on PostgreSQL to a server with one look-up and to
 * other providers.
 */
export async function userinfoSides(start: Starters) {
  const bare = await userinfoOf(await start.bare());
  const ostiary = await userinfoOf(await start.ostiary());
  const { answer, body } = await fullAnswer(ostiary);
  const raw = { 'raw node:http': await start.raw(answer, body) };
  const others: Record<string, Side> = {};
  for (const [name, server] of Object.entries({ ...raw, ...(await start.lookUp(ostiary.tokens, body)) }))
    others[name] = await userinfoSide({ ...ostiary, server });
  // The peers are slower: with fewer requests their rounds are still long enough.
  for (const [name, server] of Object.entries(await start.peers()))
    others[name] = await userinfoSide(await userinfoOf(server), 1 / 5);
  const sides: Sides = { bare: await userinfoSide(bare), ostiary: await userinfoSide(ostiary), ...others };
  return { sides, requireFreshRead: () => requireFreshRead(ostiary) };
}

/**
 * Checks that a provider issues the expected tokens. @throws Error if an ID token, or the JWT access token
 * used in its place, is wrong
 */
async function requireSigned(server: Child, client: ClientCredentials): Promise<void> {
  const { jwks, signed, algorithm } = { ...usual, ...client.unusual };
  const [answer] = await obtainTokens(server, client, 1);
  await jwtVerify(answer?.[signed] ?? '', createRemoteJWKSet(new URL(server.origin + jwks)), {
    issuer: server.origin,
    audience: client.clientId,
    algorithms: [algorithm],
    requiredClaims: ['sub'],
  });
}

/**
 * Starts the compared providers, and makes functions that measure exchanges of authorization codes: client
 * secret in the form, ID token with RS256, unless a provider lacks them. Codes are created before each round.
 */
export async function exchangeSides(start: Starters): Promise<Sides> {
  const sideOf = async (server: Child): Promise<Side> => {
    const client = await server.ask<ClientCredentials>('prepare');
    await requireSigned(server, client);
    return async (measure, count) => {
      const requests = await exchanges(server, client, count);
      return measure({ port: server.port, requests, expected: expectedOf(client) });
    };
  };
  const others: Record<string, Side> = {};
  for (const [name, server] of Object.entries(await start.peers())) others[name] = await sideOf(server);
  return { bare: await sideOf(await start.bare()), ostiary: await sideOf(await start.ostiary()), ...others };
}

/**
 * Measures the milliseconds from the spawn of a provider to its first discovery document: Ostiary on a
 * database that already has signing keys (an uncounted first start creates them), the bare provider with a
 * given key.
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

/** Time from the last response until the provider has ended all its work, in milliseconds. */
const settleMs = 500;

/**
 * Measures the mebibytes of resident memory of a provider after userinfo calls with one valid token per user.
 * Each measurement has a fresh process.
 */
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
