import type { Benchmark } from '../../support/measure/benchmark.ts';
import { users } from '../../support/measure/directory.ts';
import {
  type Load,
  measureAlone,
  measureRate,
  type RawRequest,
  rawRequest,
} from '../../support/measure/load.ts';
import { type Comparison, inTurns } from '../../support/measure/statistics.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import type { Child } from '../../support/processes/child.ts';
import { paths } from './fixture.ts';
import type { KoaSettings } from './servers/koa.ts';
import type { Beside, Provisioned } from './servers/ostiary.ts';

/** Numbers of requests and rounds of the partner API measurements. */
interface Size {
  readonly rounds: number;
  readonly requests: number;
  readonly payments: number;
  /** Number of requests in one round, made one after the other over one connection. */
  readonly alone: number;
}

/** A running Ostiary, with the keys and users that its load needs. */
export interface Ostiary extends Provisioned {
  readonly server: Child;
  readonly file: string;
  readonly database: string | null;
}

/** Starts Ostiary on a new database, with a partner, an API key and users who have consented. */
export async function startOstiary(
  bench: Benchmark,
  postgres: TestPostgres | null,
  beside: Beside = { withConsole: false, withLog: false },
): Promise<Ostiary> {
  const settings = await hostSettings(postgres);
  const server = await bench.start('ostiary', { ...settings, ...beside });
  const { file, database } = settings;
  return { server, file, database, ...(await server.ask<Provisioned>('prepare')) };
}

/**
 * Starts bare Koa routes on the same kind of database. @param keys - keys with which the response is looked
 * up on PostgreSQL
 */
async function startKoa(
  bench: Benchmark,
  postgres: TestPostgres | null,
  answer = 'null',
  keys: readonly string[] = [],
): Promise<Child> {
  const { file, database } = await hostSettings(postgres);
  return bench.start('koa', { file, database, answer, keys } satisfies KoaSettings);
}

/** A group of partner API operations that only read. */
export type Group = 'verify' | 'users';

/** Builds requests that are the same for every compared server, except for the port. */
function requestsOf(group: Group, port: number, { key, passports }: Ostiary): RawRequest[] {
  const headers = { 'x-api-key': key };
  return group === 'verify'
    ? passports.map((token) => rawRequest(port, paths.verify, headers, { token }))
    : users.map(({ kid }) => rawRequest(port, paths.user.replace(':kid', kid), headers));
}

const fields: Readonly<Record<Group, string>> = { verify: '"valid":true', users: '"handle":"user' };

/** Returns Ostiary's response to the first of the requests. */
function answerOf(group: Group, { server, key, passports }: Ostiary): Promise<Response> {
  const path = group === 'verify' ? paths.verify : paths.user.replace(':kid', users[0]?.kid ?? '');
  return fetch(server.origin + path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(group === 'verify' ? { method: 'POST', body: JSON.stringify({ token: passports[0] }) } : {}),
  });
}

/**
 * Returns Ostiary's first response. @throws Error if the response is incomplete, or if a request with a wrong
 * key is not refused (which would explain a high speed)
 */
async function fullAnswer(group: Group, ostiary: Ostiary): Promise<{ answer: Response; text: string }> {
  const { kid, handle, name, role, country, createdAt, kycStatus, kycTier } = users[0] ?? {};
  const expected =
    group === 'verify'
      ? { kid, role, country, kycStatus, kycTier }
      : { kid, handle, name, role, country, createdAt, kycStatus, kycTier };
  const answer = await answerOf(group, ostiary);
  const text = await answer.text();
  const json = JSON.parse(text);
  if (JSON.stringify(json.user ?? json) !== JSON.stringify(expected))
    throw new Error(`${group} answers ${text}`);
  const { status } = await answerOf(group, { ...ostiary, key: `${ostiary.key.slice(0, -1)}!` });
  if (status !== 401) throw new Error(`a wrong key is answered with ${status}`);
  return { answer, text };
}

/**
 * Measures requests per second of Ostiary, of a bare Koa route, and of a raw server that sends Ostiary's
 * bytes; and the time of a single request for the former two.
 */
export async function measureRequests(
  bench: Benchmark,
  postgres: TestPostgres | null,
  group: Group,
  { rounds, requests: count, alone }: Size,
) {
  const ostiary = await startOstiary(bench, postgres);
  const { answer, text } = await fullAnswer(group, ostiary);
  const keys = group === 'verify' ? ostiary.passports : users.map(({ kid }) => kid);
  const bare = await startKoa(bench, postgres, text, keys);
  const raw = await bench.startRaw(answer, text);
  const loadOf = ({ port }: Child, count: number): Load => {
    return { port, requests: requestsOf(group, port, ostiary), count, expected: fields[group] };
  };
  const rateOf = (server: Child) => () => measureRate(loadOf(server, count));
  const aloneOf = (server: Child) => () => measureAlone(loadOf(server, alone));
  return {
    ...(await inTurns(rounds, { bare: rateOf(bare), ostiary: rateOf(ostiary.server), raw: rateOf(raw) })),
    alone: await inTurns(rounds, { bare: aloneOf(bare), ostiary: aloneOf(ostiary.server) }),
  };
}

/**
 * Measures verify requests per second of Ostiary twice: without the console and the log of API requests, and
 * with those that `beside` enables.
 */
export async function measureBeside(
  bench: Benchmark,
  postgres: TestPostgres | null,
  { rounds, requests: count }: Size,
  beside: Beside,
): Promise<Comparison> {
  const without = await startOstiary(bench, postgres);
  const enabled = await startOstiary(bench, postgres, beside);
  const rateOf = (ostiary: Ostiary) => () => {
    const { port } = ostiary.server;
    const requests = requestsOf('verify', port, ostiary);
    return measureRate({ port, requests, count, expected: fields.verify });
  };
  const rates = await inTurns(rounds, { bare: rateOf(without), ostiary: rateOf(enabled) });
  await Promise.all([without.server.stop(), enabled.server.stop()]);
  return rates;
}

let sent = 0;

/** Builds new payment requests, each with its own `Idempotency-Key`. */
function payments(port: number, keys: readonly string[], count: number): RawRequest[] {
  return Array.from({ length: count }, () => {
    sent += 1;
    const headers = { 'x-api-key': keys[sent % keys.length] ?? '', 'idempotency-key': `payment-${sent}` };
    return rawRequest(port, paths.payments, headers, {
      amount: `${1 + (sent % 500)}.00`,
      currency: 'HTG',
      recipient: { kid: users[sent % users.length]?.kid },
      description: `Invoice ${sent}`,
    });
  });
}

/**
 * Measures payments per second. Ostiary and the bare routes both write each payment to the disk before they
 * respond; Ostiary's worker executes the payments meanwhile. The time of a single payment is measured first,
 * because the worker is busy later.
 * @param keyCount - number of the partner's keys, which are used in turns
 */
export async function measurePayments(
  bench: Benchmark,
  postgres: TestPostgres | null,
  { rounds, payments: count, alone }: Size,
  keyCount: number,
): Promise<Comparison & { readonly alone: Comparison }> {
  const { server: ostiary, keys } = await startOstiary(bench, postgres);
  const bare = await startKoa(bench, postgres);
  const sides = (measure: (load: Load) => Promise<number>, count: number) => {
    const side =
      ({ port }: Child) =>
      () => {
        const requests = payments(port, keys.slice(0, keyCount), count);
        return measure({ port, requests, expected: '"status":"pending"' });
      };
    return { bare: side(bare), ostiary: side(ostiary) };
  };
  const times = await inTurns(rounds, sides(measureAlone, alone));
  const rates = await inTurns(rounds, sides(measureRate, count));
  await Promise.all([bare.stop(), ostiary.stop()]);
  return { ...rates, alone: times };
}
