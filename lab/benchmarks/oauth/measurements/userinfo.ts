import { freePort } from '../../../support/free-port.ts';
import { getRequest, measureRate, type RawRequest } from '../../../support/measure/load.ts';
import { rawAnswer } from '../../../support/measure/raw-answer.ts';
import { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { paths, scope, userCount, users } from '../fixture.ts';
import { built, obtainTokens, type ProviderName, prepare, providers, startProvider } from '../providers.ts';

/** Requests per second: userinfo of both providers, and a raw server that answers Ostiary's bytes. */
export interface UserinfoRates extends Comparison {
  readonly raw: readonly number[];
}

/** Userinfo requests with live tokens, one per user. */
export async function userinfoRequests(server: ServerProcess): Promise<RawRequest[]> {
  const answers = await obtainTokens(server, await prepare(server), userCount);
  return answers.map(({ access_token }) =>
    getRequest(server.port, paths.userinfo, { authorization: `Bearer ${access_token}` }),
  );
}

/** What every userinfo answer holds. */
export const userinfoField = '"kid":"KID-';

export async function answerOf(server: ServerProcess, request: RawRequest): Promise<Response> {
  const authorization = /authorization: (.*)\r\n/.exec(request)?.[1] ?? '';
  return fetch(`http://127.0.0.1:${server.port}${paths.userinfo}`, { headers: { authorization } });
}

/** Both have to say the same about a user. @throws Error when they do not */
export async function requireFullAnswer(name: ProviderName, answer: Response): Promise<string> {
  const body = await answer.text();
  const { sub, ...fields } = JSON.parse(body);
  const { sub: _, ...expected } = users.get(sub) ?? { sub };
  if (JSON.stringify(Object.entries(fields).sort()) !== JSON.stringify(Object.entries(expected).sort())) {
    throw new Error(`${name} answers ${body} for the scope ${scope}`);
  }
  return body;
}

/** Nothing may be cached: a token that is revoked opens nothing at the very next request. @throws Error when it does */
export async function requireFreshRead(server: ServerProcess, request: RawRequest): Promise<void> {
  const token = /Bearer (\S+)/.exec(request)?.[1] ?? '';
  await fetch(`http://127.0.0.1:${server.port}${paths.revoke}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const { status } = await answerOf(server, request);
  if (status !== 401) throw new Error(`a revoked token is answered with ${status}`);
}

export async function measureUserinfo(options: {
  readonly rounds: number;
  readonly perRound: number;
  readonly flags: readonly string[];
}): Promise<UserinfoRates> {
  const { rounds, perRound, flags } = options;
  const runs: { name: keyof UserinfoRates; server: ServerProcess; requests: RawRequest[] }[] = [];
  for (const name of providers) {
    const server = await startProvider(name, flags);
    runs.push({ name, server, requests: await userinfoRequests(server) });
    const request = runs.at(-1)?.requests[0] ?? '';
    const answer = await answerOf(server, request);
    const body = await requireFullAnswer(name, answer);
    if (name === 'ostiary') {
      const settings = { port: await freePort(), ...rawAnswer(answer, body) };
      const raw = await ServerProcess.start(built('raw-server'), settings, flags);
      runs.push({ name: 'raw', server: raw, requests: [request] });
    }
  }

  const rates: Record<keyof UserinfoRates, number[]> = { bare: [], ostiary: [], raw: [] };
  const measure = (run: (typeof runs)[number], count: number) =>
    measureRate({ port: run.server.port, requests: run.requests, count, expected: userinfoField });
  for (const run of runs) await measure(run, perRound);
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) rates[run.name].push(await measure(run, perRound));
  }
  for (const { name, server, requests } of runs) {
    if (name === 'ostiary') await requireFreshRead(server, requests[0] ?? '');
    await server.stop();
  }
  return rates;
}
