import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { OstiaryOptions } from '@ostiary/core';

/** Everything that Ostiary keeps is in one file. */
export function storage(): OstiaryOptions['storage'] {
  return sqliteStorage({ file: process.env.DATABASE_FILE ?? 'ostiary.db' });
}
