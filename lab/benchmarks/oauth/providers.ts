import { generateKeyPairSync } from 'node:crypto';
import { freePort } from '../../support/free-port.ts';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import type { HostSettings } from '../../support/measure/host.ts';
import { measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import type { Child } from '../../support/processes/child.ts';
import { type ClientCredentials, redirectUri, usual } from './fixture.ts';

/** Signing key of the bare provider in all starts, generated once: 2048 bits, like Ostiary's keys. */
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

/**
 * Makes functions that start the compared providers. @param settings - settings of Ostiary; by default a new
 * database for each start
 */
export function startersOf(bench: Benchmark, postgres: TestPostgres | null, settings?: HostSettings) {
  const start = async (name: string, database: string | null, more: object = {}) =>
    bench.start(name, { port: await freePort(), database, ...more });
  return {
    bare: () => start('bare', null, { key }),
    ostiary: async () => bench.start('ostiary', settings ?? (await hostSettings(postgres))),
    raw: (answer: Response, body: string) => bench.startRaw(answer, body),
    /**
     * Starts the other providers on PostgreSQL. Returns their processes by the providers' names in the
     * report; none without PostgreSQL.
     */
    async peers(): Promise<Record<string, Child>> {
      if (postgres === null) return {};
      return {
        'oidc-provider on PostgreSQL': await start('bare', await postgres.newDatabase(), { key }),
        'better-auth': await start('better-auth', await postgres.newDatabase()),
        'openauth, whose tokens are JWTs': await start('openauth', await postgres.newDatabase()),
      };
    },
    /**
     * Starts a server that makes one look-up in PostgreSQL per request and knows the given access tokens.
     * Starts none without PostgreSQL.
     */
    async lookUp(tokens: readonly string[], json: string): Promise<Record<string, Child>> {
      if (postgres === null) return {};
      return { 'one look-up': await start('look-up', await postgres.newDatabase(), { tokens, json }) };
    },
  };
}

export type Starters = ReturnType<typeof startersOf>;

/**
 * Builds requests that exchange authorization codes. The provider creates the codes now, before the timing
 * starts.
 */
export async function exchanges(
  server: Child,
  { clientId, clientSecret, unusual }: ClientCredentials,
  count: number,
): Promise<RawRequest[]> {
  const codes = await server.ask<string[]>('mint', count);
  return codes.map((code) => {
    const form = {
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      ...{ client_id: clientId, client_secret: clientSecret },
    };
    return rawRequest(server.port, { ...usual, ...unusual }.token, {}, new URLSearchParams(form));
  });
}

/** Returns the text that the response body of every code exchange contains. */
export function expectedOf({ unusual }: ClientCredentials): string {
  return `"${{ ...usual, ...unusual }.signed}":"`;
}

/** Exchanges authorization codes and returns the issued tokens. */
export async function obtainTokens(server: Child, client: ClientCredentials, count: number) {
  const answers: Readonly<Record<string, string>>[] = [];
  const requests = await exchanges(server, client, count);
  await measureRate({ port: server.port, requests, expected: expectedOf(client) }, (body) =>
    answers.push(JSON.parse(body)),
  );
  return answers;
}
