import { readSqlFiles } from './sql-files.ts';

/** Migrations of this package. A build contains their text (`scripts/built-in-modules.ts`). */
export const shippedMigrations = readSqlFiles(new URL('../sql/', import.meta.url));

/** Functions of the database schema, one file each. */
export const shippedFunctions = readSqlFiles(new URL('../sql/functions/', import.meta.url));
