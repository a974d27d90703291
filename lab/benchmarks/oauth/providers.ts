import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { measureRate, postForm, type RawRequest } from '../../support/measure/load.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import { type ClientCredentials, paths, redirectUri } from './fixture.ts';
import type { BareSettings } from './servers/bare.ts';
import type { OstiarySettings } from './servers/ostiary.ts';

/** The providers that are compared. */
export const providers = ['bare', 'ostiary'] as const;

/** One of {@link providers}. */
export type ProviderName = (typeof providers)[number];

/** Made once: 2048 bits, as Ostiary makes its own. */
const bareKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const sealingKey = randomBytes(32).toString('base64url');
/** The path of a built server. */
export function built(name: string): string {
  return fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url));
}

/** Starts a provider. @param file - Ostiary's database, a new one unless given */
export async function startProvider(
  name: ProviderName,
  flags: readonly string[],
  file: string = newDatabase(),
): Promise<ServerProcess> {
  const port = await freePort();
  const settings: BareSettings | OstiarySettings =
    name === 'bare' ? { port, key: bareKey } : { port, file, database: null, sealingKey };
  return ServerProcess.start(built(name), settings, flags);
}

/** Starts Ostiary on a database of PostgreSQL. */
export async function startOnPostgres(database: string, flags: readonly string[]): Promise<ServerProcess> {
  const settings: OstiarySettings = { port: await freePort(), file: '', database, sealingKey };
  return ServerProcess.start(built('ostiary'), settings, flags);
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
