import { postgresStorage } from '@ostiary/adapter-postgres';
import type { OstiaryOptions } from '@ostiary/core';

/** Everything that Ostiary keeps is in one schema of your database, which it creates. */
export function storage(): OstiaryOptions['storage'] {
  const { DATABASE_URL = '', DATABASE_SCHEMA = 'ostiary' } = process.env;
  if (DATABASE_URL === '') throw new Error('DATABASE_URL is missing: see .env.example');
  return postgresStorage({ connectionString: DATABASE_URL, schema: DATABASE_SCHEMA });
}
