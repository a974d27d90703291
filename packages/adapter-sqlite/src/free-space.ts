import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/**
 * Pages of one step, a megabyte. It takes a few milliseconds, during which no other call has the connection.
 */
const stepPages = 256;

/** Steps of one call; what is left then waits for the next one. */
const maxSteps = 40;

/** Free pages that stay for what is stored next. */
const keptPages = 1024;

/** Value of the pragma `auto_vacuum` for files that can return pages in steps. */
const incremental = 2;

const numberOf = (connection: Connection, pragma: string): number =>
  Number(connection.pragma(pragma, { simple: true }));

/** Gives pages that nothing uses any more back to the file system, in short steps between which others get their turn. */
export async function giveBack(database: Database): Promise<void> {
  for (let step = 0; step < maxSteps; step += 1) {
    const spare = await database.read((connection) =>
      numberOf(connection, 'auto_vacuum') === incremental
        ? numberOf(connection, 'freelist_count') - keptPages
        : 0,
    );
    if (spare <= 0) return;
    // Not only its first row: each page that is moved is one.
    await database.write((connection) =>
      connection.pragma(`incremental_vacuum(${Math.min(spare, stepPages)})`),
    );
  }
}
