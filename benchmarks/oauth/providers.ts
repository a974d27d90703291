import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientCredentials, paths, redirectUri } from './fixture.ts';
import { measureRate, postRequest, type RawRequest } from './load.ts';
import { freePort, ServerProcess } from './server-process.ts';

/** The providers that are compared. */
export const providers = ['bare', 'ostiary'] as const;

/** One of {@link providers}. */
export type ProviderName = (typeof providers)[number];

/** Made once: 2048 bits, as Ostiary makes its own. */
const bareKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const sealingKey = randomBytes(32).toString('base64url');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let databases = 0;

/** The path of a database that does not exist yet; it is gone when the benchmark ends. */
export function newDatabase(): string {
  databases += 1;
  return join(folder, `${databases}.db`);
}

/** Starts a provider. @param file - Ostiary's database, a new one unless given */
export async function startProvider(
  name: ProviderName,
  flags: readonly string[],
  file?: string,
): Promise<ServerProcess> {
  const port = await freePort();
  if (name === 'bare') return ServerProcess.start('bare', { port, key: bareKey }, flags);
  return ServerProcess.start('ostiary', { port, file: file ?? newDatabase(), sealingKey }, flags);
}

/** Registers the client at a provider. */
export function prepare(server: ServerProcess): Promise<ClientCredentials> {
  return server.ask<ClientCredentials>({ prepare: true });
}

/** Requests that exchange codes which the provider mints now, before anything is timed. */
export async function exchanges(
  server: ServerProcess,
  { clientId, clientSecret }: ClientCredentials,
  count: number,
): Promise<RawRequest[]> {
  const codes = await server.ask<string[]>({ mint: count });
  return codes.map((code) =>
    postRequest(server.port, paths.token, {
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
