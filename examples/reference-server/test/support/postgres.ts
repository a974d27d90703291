import { type TestPostgres, testPostgres } from '../../../../lab/support/postgres/postgres.ts';

/** A real PostgreSQL server that can be stopped and started again. */
export interface PostgresServer extends Omit<TestPostgres, 'url'> {
  readonly url: string;
}

/** PostgreSQL settings without fsync, because in tests only processes crash, never the machine. */
const careless = ['fsync=off'];

export async function startPostgres(settings: readonly string[] = careless): Promise<PostgresServer> {
  const postgres = await testPostgres({
    password: 'a-password-of-the-test',
    settings: [...settings, 'deadlock_timeout=50ms', 'max_connections=100'],
  });
  return { ...postgres, url: postgres.url() };
}
