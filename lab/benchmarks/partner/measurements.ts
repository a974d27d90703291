import type { Benchmark } from '../../support/measure/benchmark.ts';
import { users } from '../../support/measure/directory.ts';
import { measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { type Comparison, inTurns } from '../../support/measure/statistics.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import type { Child } from '../../support/processes/child.ts';
import { paths } from './fixture.ts';
import type { KoaSettings } from './servers/koa.ts';
import type { Provisioned } from './servers/ostiary.ts';

/** How much is measured. */
export interface Size {
  readonly rounds: number;
  readonly requests: number;
  readonly payments: number;
}

/** Ostiary, with what its load needs. */
export interface Ostiary extends Provisioned {
  readonly server: Child;
  readonly file: string;
  readonly database: string | null;
}

/** Starts Ostiary on a database of its own, with a partner, a key and users who have consented. */
export async function startOstiary(bench: Benchmark, postgres: TestPostgres | null): Promise<Ostiary> {
  const settings = await hostSettings(postgres);
  const server = await bench.start('ostiary', settings);
  const { file, database } = settings;
  return { server, file, database, ...(await server.ask<Provisioned>('prepare')) };
}

/** Starts bare Koa routes on the same kind of database. @param keys - with which the answer is looked up on PostgreSQL */
export async function startKoa(
  bench: Benchmark,
  postgres: TestPostgres | null,
  answer = 'null',
  keys: readonly string[] = [],
): Promise<Child> {
  const { file, database } = await hostSettings(postgres);
  return bench.start('koa', { file, database, answer, keys } satisfies KoaSettings);
}

/** A group of the partner API that only reads. */
export type Group = 'verify' | 'users';

/** The same requests for every server, but for the port. */
function requestsOf(group: Group, port: number, { key, passports }: Ostiary): RawRequest[] {
  const headers = { 'x-api-key': key };
  return group === 'verify'
    ? passports.map((token) => rawRequest(port, paths.verify, headers, { token }))
    : users.map(({ kid }) => rawRequest(port, paths.user.replace(':kid', kid), headers));
}

const fields: Readonly<Record<Group, string>> = { verify: '"valid":true', users: '"handle":"user' };

/** What Ostiary answers to the first request. */
function answerOf(group: Group, { server, key, passports }: Ostiary): Promise<Response> {
  const path = group === 'verify' ? paths.verify : paths.user.replace(':kid', users[0]?.kid ?? '');
  return fetch(server.origin + path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(group === 'verify' ? { method: 'POST', body: JSON.stringify({ token: passports[0] }) } : {}),
  });
}

/** The load has to be about full answers, and a wrong key not be what is fast. @throws Error when it is not so */
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

/** Requests per second of Ostiary, of a bare Koa route, and of a raw server that answers Ostiary's bytes. */
export async function measureRequests(
  bench: Benchmark,
  postgres: TestPostgres | null,
  group: Group,
  { rounds, requests: count }: Size,
) {
  const ostiary = await startOstiary(bench, postgres);
  const { answer, text } = await fullAnswer(group, ostiary);
  const keys = group === 'verify' ? ostiary.passports : users.map(({ kid }) => kid);
  const bare = await startKoa(bench, postgres, text, keys);
  const raw = await bench.startRaw(answer, text);
  const rateOf = ({ port }: Child) => {
    const load = { port, requests: requestsOf(group, port, ostiary), count, expected: fields[group] };
    return () => measureRate(load);
  };
  return inTurns(rounds, { bare: rateOf(bare), ostiary: rateOf(ostiary.server), raw: rateOf(raw) });
}

let sent = 0;

/** Payments that nobody has seen yet: each has an `Idempotency-Key` of its own. */
function payments(port: number, key: string, count: number): RawRequest[] {
  return Array.from({ length: count }, () => {
    sent += 1;
    const headers = { 'x-api-key': key, 'idempotency-key': `payment-${sent}` };
    return rawRequest(port, paths.payments, headers, {
      amount: `${1 + (sent % 500)}.00`,
      currency: 'HTG',
      recipient: { kid: users[sent % users.length]?.kid },
      description: `Invoice ${sent}`,
    });
  });
}

/** Payments per second, every answered one on the disk on either side; Ostiary's worker executes them meanwhile. */
export async function measurePayments(
  bench: Benchmark,
  postgres: TestPostgres | null,
  { rounds, payments: count }: Size,
): Promise<Comparison> {
  const { server: ostiary, key } = await startOstiary(bench, postgres);
  const bare = await startKoa(bench, postgres);
  const measure = ({ port }: Child) =>
    measureRate({ port, requests: payments(port, key, count), expected: '"status":"pending"' });
  return inTurns(rounds, { bare: () => measure(bare), ostiary: () => measure(ostiary) });
}
