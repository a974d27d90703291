export { StorageUnavailableError } from './errors.ts';
export type { SqliteStorageOptions } from './options.ts';
export { sqliteStorage } from './storage.ts';
