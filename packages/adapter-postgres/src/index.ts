export { createTables } from './create-tables.ts';
export { StorageUnavailableError } from './errors.ts';
export type { OpenedPool as PostgresOwnPool } from './opened-pool.ts';
export { type PostgresStorageOptions, postgresPool } from './options.ts';
export { postgresTypes } from './parsers.ts';
export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
export { primaryOnly } from './primary.ts';
export { postgresStorage } from './storage.ts';
