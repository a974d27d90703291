import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { type PostgresOptions, startPostgres } from './embedded.ts';

/** A real PostgreSQL server from npm, with its data in a new folder. */
export type TestPostgres = Awaited<ReturnType<typeof testPostgres>>;

/**
 * PostgreSQL setting that keeps shared memory in the data folder, so that a killed server leaves none behind
 * after the test.
 */
export const memoryInFolder = 'dynamic_shared_memory_type=mmap';

/** Starts a PostgreSQL server with its data in a new temporary folder. */
export async function testPostgres({
  password = 'postgres',
  settings = [],
}: Partial<Omit<PostgresOptions, 'port'>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-postgres-'));
  // Retry, because after a failure the server is still stopping and writes to the folder.
  const clear = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  process.once('exit', clear);
  const port = await freePort();
  const postgres = await startPostgres(folder, { port, password, settings: [memoryInFolder, ...settings] });
  /** Creates a database. @returns the URL with which the superuser connects to the database */
  const createDatabase = async (name: string): Promise<string> => {
    const client = new Client({ connectionString: postgres.url() });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return postgres.url(name);
  };
  let databases = 0;
  return {
    ...{ ...postgres, port, folder, createDatabase },
    /** Creates a database with a unique name. */
    newDatabase() {
      databases += 1;
      return createDatabase(`database_${databases}`);
    },
    /** Stops the PostgreSQL server and removes its data. */
    async remove() {
      await postgres.stop();
      process.removeListener('exit', clear);
      clear();
    },
  };
}
