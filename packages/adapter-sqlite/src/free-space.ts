import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/**
 * Number of database pages that one step returns to the file system: a megabyte. A step takes a few
 * milliseconds, during which no other call can use the connection.
 */
const stepPages = 256;

/** Maximum number of steps in one call. Remaining pages wait for the next call. */
const maxSteps = 40;

/** Number of free database pages that are kept for new data. */
const keptPages = 1024;

/** Value of the pragma `auto_vacuum` in database files that can return free pages in steps. */
const incremental = 2;

const numberOf = (connection: Connection, pragma: string): number =>
  Number(connection.pragma(pragma, { simple: true }));

/**
 * Returns unused pages of the database to the file system, except some that are kept for new data, in short
 * steps between which other calls can run. Does nothing for a file that cannot return pages in steps.
 */
export async function giveBack(database: Database): Promise<void> {
  for (let step = 0; step < maxSteps; step += 1) {
    const spare = await database.read((connection) =>
      numberOf(connection, 'auto_vacuum') === incremental
        ? numberOf(connection, 'freelist_count') - keptPages
        : 0,
    );
    if (spare <= 0) return;
    // Read all rows: the pragma moves one page per row.
    await database.write((connection) =>
      connection.pragma(`incremental_vacuum(${Math.min(spare, stepPages)})`),
    );
  }
}
