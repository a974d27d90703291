import { postgresStorage } from '@ostiary/adapter-postgres';
import type { OstiaryOptions } from '@ostiary/core';
import { readSecret } from './settings.ts';

/**
 * Opens the storage. Everything that Ostiary stores is in one schema of your database. Ostiary creates the
 * schema.
 */
export function storage(): OstiaryOptions['storage'] {
  const connectionString = readSecret('DATABASE_URL');
  if (connectionString === '') throw new Error('DATABASE_URL is missing: see .env.example');
  return postgresStorage({ connectionString, schema: process.env.DATABASE_SCHEMA ?? 'ostiary' });
}
