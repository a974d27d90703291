export { createTables } from './create-tables.ts';
export { StorageUnavailableError } from './errors.ts';
export type { PostgresStorageOptions } from './options.ts';
export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
export { postgresStorage } from './storage.ts';
