import { generateKeyPairSync } from 'node:crypto';
import { freePort } from '../../support/free-port.ts';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import type { HostSettings } from '../../support/measure/host.ts';
import { measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import type { Child } from '../../support/processes/child.ts';
import { type ClientCredentials, paths, redirectUri } from './fixture.ts';

/** Made once: 2048 bits, as Ostiary makes its own. */
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

/** How the two sides are started. @param settings - of Ostiary, on a new database each time unless given */
export function startersOf(bench: Benchmark, postgres: TestPostgres | null, settings?: HostSettings) {
  return {
    bare: async () => bench.start('bare', { key, port: await freePort() }),
    ostiary: async () => bench.start('ostiary', settings ?? (await hostSettings(postgres))),
    raw: (answer: Response, body: string) => bench.startRaw(answer, body),
  };
}

export type Starters = ReturnType<typeof startersOf>;

/** Requests that exchange codes which the provider mints now, before anything is timed. */
export async function exchanges(
  server: Child,
  { clientId, clientSecret }: ClientCredentials,
  count: number,
): Promise<RawRequest[]> {
  const codes = await server.ask<string[]>('mint', count);
  return codes.map((code) => {
    const form = {
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      ...{ client_id: clientId, client_secret: clientSecret },
    };
    return rawRequest(server.port, paths.token, {}, new URLSearchParams(form));
  });
}

/** Exchanges codes and answers what came for them. */
export async function obtainTokens(server: Child, client: ClientCredentials, count: number) {
  const answers: { readonly access_token: string; readonly id_token: string }[] = [];
  const requests = await exchanges(server, client, count);
  await measureRate({ port: server.port, requests, expected: '"id_token":"' }, (body) =>
    answers.push(JSON.parse(body)),
  );
  return answers;
}
