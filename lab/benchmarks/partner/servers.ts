import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { newDatabase } from '../../support/measure/temporary.ts';
import type { BareSettings } from './servers/bare.ts';
import type { OstiarySettings, Provisioned } from './servers/ostiary.ts';

const sealingKey = randomBytes(32).toString('base64url');

/** The path of a built server. */
export function built(name: string): string {
  return fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url));
}

/** Ostiary, with what its load needs. */
export interface Ostiary extends Provisioned {
  readonly server: ServerProcess;
  readonly file: string;
}

/**
 * Starts Ostiary on a database of its own, with a partner, a key and users who have consented.
 * @param database - of PostgreSQL; without it on a SQLite file
 */
export async function startOstiary(
  flags: readonly string[],
  database: string | null = null,
): Promise<Ostiary> {
  const file = newDatabase();
  const settings: OstiarySettings = { port: await freePort(), file, database, sealingKey };
  const server = await ServerProcess.start(built('ostiary'), settings, flags);
  return { server, file, ...(await server.ask<Provisioned>('prepare')) };
}

/** Starts the bare server that makes one statement of PostgreSQL for each request. */
export async function startBareOnPostgres(
  database: string,
  flags: readonly string[],
): Promise<ServerProcess> {
  return ServerProcess.start(built('bare-postgres'), { port: await freePort(), database }, flags);
}

/** Starts the bare Koa server. */
export async function startBare(
  answers: Pick<BareSettings, 'verification' | 'user'>,
  flags: readonly string[],
): Promise<ServerProcess> {
  const settings: BareSettings = { port: await freePort(), file: newDatabase(), ...answers };
  return ServerProcess.start(built('bare'), settings, flags);
}
