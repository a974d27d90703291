import { readSqlFiles } from './sql-files.ts';

/** Migrations of this package. Builds inline their text (`scripts/built-in-modules.ts`). */
export const shippedMigrations = readSqlFiles(new URL('../sql/', import.meta.url));

/** Functions of the schema, one file each. */
export const shippedFunctions = readSqlFiles(new URL('../sql/functions/', import.meta.url));
