export { StorageUnavailableError } from './errors.ts';
export { fileGuard, type SqliteConnection } from './file-guard.ts';
export type { SqliteStorageOptions } from './options.ts';
export { memoryStorage, sqliteStorage } from './storage.ts';
