import { freePort } from '../../../support/free-port.ts';
import { getRequest, measureRate, postJson, type RawRequest } from '../../../support/measure/load.ts';
import { rawAnswer } from '../../../support/measure/raw-answer.ts';
import { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { paths, users } from '../fixture.ts';
import { built, type Ostiary, startBare, startOstiary } from '../servers.ts';

/** Requests per second: Ostiary's, a bare Koa route's, and those of a raw server that answers Ostiary's bytes. */
export interface RequestRates extends Comparison {
  readonly raw: readonly number[];
}

/** A group of the partner API that only reads. */
export type Group = 'verify' | 'users';

/** The same requests for every server, but for the port. */
export function requestsOf(group: Group, port: number, { key, passports }: Ostiary): RawRequest[] {
  const headers = { 'x-api-key': key };
  return group === 'verify'
    ? passports.map((token) => postJson(port, paths.verify, headers, { token }))
    : users.map(({ kid }) => getRequest(port, paths.user.replace(':kid', kid), headers));
}

export const fields: Readonly<Record<Group, string>> = { verify: '"valid":true', users: '"handle":"user' };

/** What a server answers. @param index - of the passport or user */
export async function answerOf(
  group: Group,
  { server, key, passports }: Ostiary,
  index = 0,
): Promise<Response> {
  const path = group === 'verify' ? paths.verify : paths.user.replace(':kid', users[index]?.kid ?? '');
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(group === 'verify' ? { method: 'POST', body: JSON.stringify({ token: passports[index] }) } : {}),
  });
}

/** The load has to be about full answers. @throws Error when one is not */
export function requireFullAnswer(group: Group, body: unknown): void {
  const [user] = users;
  const { kid, handle, name, role, country, createdAt, kycStatus, kycTier } = user ?? {};
  const shown = (body as { user?: unknown }).user ?? body;
  const expected =
    group === 'verify'
      ? { kid, role, country, kycStatus, kycTier }
      : { kid, handle, name, role, country, createdAt, kycStatus, kycTier };
  if (JSON.stringify(shown) !== JSON.stringify(expected)) {
    throw new Error(`${group} answers ${JSON.stringify(body)}`);
  }
}

/** A revoked or foreign key must not be what is fast. @throws Error when the pipeline lets a stranger in */
async function requirePipeline(group: Group, ostiary: Ostiary): Promise<void> {
  const { status } = await answerOf(group, { ...ostiary, key: `${ostiary.key.slice(0, -1)}!` });
  if (status !== 401) throw new Error(`a wrong key is answered with ${status}`);
}

/** Rates of verify or of user lookup, each server in turn. */
export async function measureRequests(
  group: Group,
  options: { readonly rounds: number; readonly perRound: number; readonly flags: readonly string[] },
): Promise<RequestRates> {
  const { rounds, perRound, flags } = options;
  const ostiary = await startOstiary(flags);
  const answer = await answerOf(group, ostiary);
  const text = await answer.text();
  const json: unknown = JSON.parse(text);
  requireFullAnswer(group, json);
  await requirePipeline(group, ostiary);
  const bare = await startBare({ verification: json, user: json }, flags);
  const raw = await ServerProcess.start(
    built('raw-server'),
    { port: await freePort(), ...rawAnswer(answer, text) },
    flags,
  );

  const servers = { bare, ostiary: ostiary.server, raw };
  const runs = Object.entries(servers).map(([name, { port }]) => ({
    name: name as keyof typeof servers,
    load: { port, requests: requestsOf(group, port, ostiary), expected: fields[group] },
  }));
  const rates: Record<keyof RequestRates, number[]> = { bare: [], ostiary: [], raw: [] };
  for (const { load } of runs) await measureRate({ ...load, count: perRound });
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, load } of runs) rates[name].push(await measureRate({ ...load, count: perRound }));
  }
  for (const server of Object.values(servers)) await server.stop();
  return rates;
}
