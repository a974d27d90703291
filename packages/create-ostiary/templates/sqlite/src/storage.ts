import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { OstiaryOptions } from '@ostiary/core';

/** Opens the storage. Everything that Ostiary stores is in one file. */
export function storage(): OstiaryOptions['storage'] {
  return sqliteStorage({ file: process.env.DATABASE_FILE ?? 'ostiary.db' });
}
