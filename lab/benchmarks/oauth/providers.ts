import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import { measureRate, postForm, type RawRequest } from '../../support/measure/load.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import type { Comparison } from '../../support/measure/statistics.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import { type ClientCredentials, paths, redirectUri } from './fixture.ts';

/** Who is compared. */
export type ProviderName = keyof Comparison;

/** Made once: 2048 bits, as Ostiary makes its own. */
const bareKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const sealingKey = randomBytes(32).toString('base64url');

/** Starts a provider. @param file - Ostiary's database, a new one unless given */
export function startProvider(bench: Benchmark, name: ProviderName, file?: string): Promise<ServerProcess> {
  if (name === 'bare') return bench.start('bare', { key: bareKey });
  return bench.start('ostiary', { file: file ?? newDatabase(), database: null, sealingKey });
}

/** Starts Ostiary on a database of PostgreSQL. */
export function startOnPostgres(bench: Benchmark, database: string): Promise<ServerProcess> {
  return bench.start('ostiary', { file: '', database, sealingKey });
}

/** Registers the client at a provider. */
export function prepare(server: ServerProcess): Promise<ClientCredentials> {
  return server.ask<ClientCredentials>('prepare');
}

/** Requests that exchange codes which the provider mints now, before anything is timed. */
export async function exchanges(
  server: ServerProcess,
  { clientId, clientSecret }: ClientCredentials,
  count: number,
): Promise<RawRequest[]> {
  const codes = await server.ask<string[]>('mint', count);
  return codes.map((code) =>
    postForm(server.port, paths.token, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: clientSecret,
    }),
  );
}

/** The answer to a code exchange. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly id_token: string;
}

/** Exchanges codes and answers what came for them. */
export async function obtainTokens(
  server: ServerProcess,
  client: ClientCredentials,
  count: number,
): Promise<TokenAnswer[]> {
  const answers: TokenAnswer[] = [];
  const requests = await exchanges(server, client, count);
  await measureRate({ port: server.port, requests, expected: '"id_token":"' }, (body) =>
    answers.push(JSON.parse(body)),
  );
  return answers;
}
