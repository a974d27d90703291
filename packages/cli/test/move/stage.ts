import Sqlite from 'better-sqlite3';
import type { Pool } from 'pg';
import { beforeAll } from 'vitest';
import { hostPool, schemaNames, startServer } from '../../../adapter-postgres/test/server.ts';
import { checkSqlite, type MoveOptions, moveFromSqlite } from '../../src/move/index.ts';

export const nextSchema = schemaNames();

/** PostgreSQL server for the tests of a file, available while they run. */
export const postgres = {} as { pool: Pool; url: string };

/** Starts {@link postgres} before the tests of a file, and stops it afterwards. */
export function usePostgres(): void {
  beforeAll(async () => {
    const server = await startServer();
    Object.assign(postgres, { url: server.url, pool: hostPool(server.url) });
    return async () => {
      await postgres.pool.end();
      await server.remove();
    };
  }, 120_000);
}

/** Opens an SQLite file, calls a function with the database, and closes the file. */
export async function opened<Result>(
  file: string,
  work: (from: Sqlite.Database) => Promise<Result>,
): Promise<Result> {
  const from = new Sqlite(file);
  try {
    return await work(from);
  } finally {
    from.close();
  }
}

export const move = (file: string, schema: string, options: Partial<MoveOptions> = {}) =>
  opened(file, (from) => moveFromSqlite({ from, pool: postgres.pool, schema, ...options }));

export const check = (file: string) => opened(file, (from) => checkSqlite({ from }));
