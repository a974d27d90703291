import { openSqlite, type SqliteDatabase } from './sqlite.ts';

export { DatabaseUnavailable } from './errors.ts';
export type { Connection } from './sqlite.ts';

/** A file of this server, opened by a tool beside it: a proof, a test, a report. */
export interface Database extends SqliteDatabase {
  /** Runs synchronous reads on `connection`. */
  read<Result>(work: () => Result): Result;
}

/** Opens a file for a tool; the server itself opens its database in `open.ts`. */
export async function openDatabase(file: string): Promise<Database> {
  return { ...(await openSqlite(file)), read: (work) => work() };
}
