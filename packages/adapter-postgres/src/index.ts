export { createTables } from './create-tables.ts';
export { StorageUnavailableError } from './errors.ts';
export { type PostgresStorageOptions, postgresPool } from './options.ts';
export type { OwnPool as PostgresOwnPool } from './own-pool.ts';
export { postgresTypes } from './parsers.ts';
export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
export { primaryOnly } from './primary.ts';
export { postgresStorage } from './storage.ts';
