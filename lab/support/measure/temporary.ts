import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { TestPostgres } from '../postgres/postgres.ts';
import type { HostSettings } from './host.ts';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let databases = 0;

/** Returns the path of a new SQLite file, which is removed when the benchmark ends. */
function newDatabase(): string {
  databases += 1;
  return join(folder, `${databases}.db`);
}

const sealingKey = randomBytes(32).toString('base64url');

/** Returns the settings of Ostiary on a new database of a PostgreSQL server, or on a new SQLite file. */
export async function hostSettings(postgres: TestPostgres | null): Promise<HostSettings> {
  const database = postgres === null ? null : await postgres.newDatabase();
  return { port: await freePort(), sealingKey, file: newDatabase(), database };
}
