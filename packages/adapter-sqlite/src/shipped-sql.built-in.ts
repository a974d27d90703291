import { readSqlFiles } from './sql-files.ts';

/** Migrations of this package. Builds inline their text (`scripts/built-in-modules.ts`). */
export const shippedMigrations = readSqlFiles(new URL('../sql/', import.meta.url));
