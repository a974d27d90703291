import { testPostgres } from './postgres.ts';

/** A PostgreSQL of the benchmark's own. */
export interface PostgresServer {
  /** Of a new, empty database. */
  newDatabase(): Promise<string>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL 18 as it is installed: `fsync` and `synchronous_commit` on, every setting that costs or saves time
 * at its default. Only connections are more than usual.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const postgres = await testPostgres({ settings: ['max_connections=400'] });
  let databases = 0;
  return {
    async newDatabase() {
      databases += 1;
      return await postgres.createDatabase(`bench_${databases}`);
    },
    stop: postgres.remove,
  };
}
