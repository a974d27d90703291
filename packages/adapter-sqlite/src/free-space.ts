import { codeOf, isBusy } from './busy.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/** What `PRAGMA auto_vacuum` says of a file that can give pages back. */
const incremental = 2;

/** Pages of one step, a megabyte: a few milliseconds, in which nobody else has the connection. */
const stepPages = 256;

/** Steps of one call; what is left then waits for the next one. */
const maxSteps = 40;

/** Free pages that stay for what is stored next. */
const keptPages = 1024;

/** Bytes of a file that is rebuilt when it is opened: a fraction of a second. */
const rebuiltBytes = 64 * 2 ** 20;

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

/**
 * Rebuilds a file from before, which cannot give pages back, once, if that is soon done. Where somebody else is at work or
 * the disk is full it stays as it is until the next start.
 */
export function letGiveBack(connection: Connection): void {
  const bytes = numberOf(connection, 'page_count') * numberOf(connection, 'page_size');
  if (numberOf(connection, 'auto_vacuum') === incremental || bytes > rebuiltBytes) return;
  try {
    connection.pragma('auto_vacuum = INCREMENTAL');
    connection.exec('VACUUM');
  } catch (error) {
    if (!isBusy(error) && codeOf(error) !== 'SQLITE_FULL') throw error;
  }
}

function numberOf(connection: Connection, pragma: string): number {
  return Number(connection.pragma(pragma, { simple: true }));
}
