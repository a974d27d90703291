import { type Connection, inMemory, logSizeLimit } from './connection.ts';
import type { Database } from './database.ts';
import { openedFile, statOf } from './file-guard.ts';

/**
 * Size in bytes from which this package truncates the write-ahead log. SQLite itself keeps a log that no
 * reader holds below half of this size.
 */
const largeLog = 2 * logSizeLimit;

/**
 * Row that `wal_checkpoint` returns: 1 in `busy` if the checkpoint could not be completed, the number of
 * pages in the write-ahead log, and how many of them were copied to the database file.
 */
interface Checkpoint {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

function isLarge(connection: Connection): boolean {
  if (connection.name === inMemory) return false;
  const log = statOf(`${openedFile(connection)}-wal`);
  return log !== undefined && log.size >= largeLog;
}

function checkpoint(connection: Connection, mode: 'PASSIVE' | 'TRUNCATE'): Checkpoint | undefined {
  const [row] = connection.pragma(`wal_checkpoint(${mode})`) as Checkpoint[];
  return row;
}

/**
 * Truncates a write-ahead log that has grown while another connection read for long. SQLite truncates it only
 * at a later commit, and never if no commit follows. Leaves the log as it is while a reader still needs it.
 */
export async function shrinkLog(database: Database): Promise<void> {
  // PASSIVE copies the pages beside readers and writers. TRUNCATE blocks writers, so use it only when nothing
  // is left to copy.
  const isCopied = await database.read((connection) => {
    if (!isLarge(connection)) return false;
    const copied = checkpoint(connection, 'PASSIVE');
    return copied !== undefined && copied.log === copied.checkpointed;
  });
  if (isCopied) await database.read((connection) => checkpoint(connection, 'TRUNCATE'));
}
