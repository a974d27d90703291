import { createRemoteJWKSet, jwtVerify } from 'jose';
import { measureRate } from '../../../support/measure/load.ts';
import type { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { type ClientCredentials, paths } from '../fixture.ts';
import {
  exchanges,
  obtainTokens,
  type ProviderName,
  prepare,
  providers,
  startProvider,
} from '../providers.ts';

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
export async function measureExchange(options: {
  readonly rounds: number;
  readonly perRound: number;
  readonly flags: readonly string[];
}): Promise<Comparison> {
  const { rounds, perRound, flags } = options;
  const runs: { name: ProviderName; server: ServerProcess; client: ClientCredentials }[] = [];
  for (const name of providers) {
    const server = await startProvider(name, flags);
    runs.push({ name, server, client: await prepare(server) });
  }
  const measure = async ({ server, client }: (typeof runs)[number]) => {
    const requests = await exchanges(server, client, perRound);
    return measureRate({ port: server.port, requests, expected: '"id_token":"' });
  };

  const rates: Record<ProviderName, number[]> = { bare: [], ostiary: [] };
  for (const run of runs) {
    await requireIdToken(run.server, run.client);
    await measure(run);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) rates[run.name].push(await measure(run));
  }
  for (const { server } of runs) await server.stop();
  return rates;
}
