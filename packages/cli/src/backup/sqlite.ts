import type { ProgressStep } from '../command.ts';

/** The part of a `better-sqlite3` database that a backup uses. */
export interface BackupDatabase {
  exec(sql: string): unknown;
  pragma(sql: string, options?: { simple?: boolean }): unknown;
  prepare(sql: string): { pluck(): { all(): unknown[]; get(): unknown } };
  backup(
    file: string,
    options: { progress(pages: { totalPages: number; remainingPages: number }): number },
  ): Promise<unknown>;
  close(): unknown;
}

/** Number of database pages copied in one step (4 MB). Other work of the process runs between two steps. */
const batch = 1000;

/** Counts the rows of each table. */
function countsOf(database: BackupDatabase): ReadonlyMap<string, number> {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck();
  return new Map(
    names.all().map((name) => {
      const quoted = `"${String(name).replaceAll('"', '""')}"`;
      return [String(name), Number(database.prepare(`SELECT count(*) FROM ${quoted}`).pluck().get())];
    }),
  );
}

/** Checks the integrity of the copy and its row counts. @throws Error if it is damaged or differs from the original */
function verify(copy: BackupDatabase, expected: ReadonlyMap<string, number>): void {
  // Makes a single file, without the two other files of a write-ahead log.
  copy.pragma('journal_mode = DELETE');
  const problem = copy.pragma('integrity_check', { simple: true });
  if (problem !== 'ok') throw new Error(`the copy is damaged: ${problem}`);
  const found = countsOf(copy);
  for (const [table, rows] of expected) {
    if (found.get(table) !== rows)
      throw new Error(`the copy has ${found.get(table) ?? 'no'} rows of ${table}, and not ${rows}`);
  }
}

/**
 * Copies a database that is in use, and verifies the copy against it. The copy holds the state at the start
 * of the backup. Servers can go on writing: a write does not restart the backup.
 * @returns the number of rows of each table
 */
export async function backupSqlite(
  from: BackupDatabase,
  to: { readonly file: string; readonly open: (file: string) => BackupDatabase },
  onProgress: (step: ProgressStep) => void,
): Promise<ReadonlyMap<string, number>> {
  from.exec('BEGIN');
  try {
    // The first statement that reads fixes the moment of the snapshot.
    const counts = countsOf(from);
    await from.backup(to.file, {
      progress({ totalPages, remainingPages }) {
        onProgress({ step: 'copying', done: totalPages - remainingPages, of: totalPages, unit: 'pages' });
        return batch;
      },
    });
    const copy = to.open(to.file);
    onProgress({ step: 'verifying', done: 0, of: counts.size, unit: 'tables' });
    try {
      verify(copy, counts);
    } finally {
      copy.close();
    }
    return counts;
  } finally {
    from.exec('ROLLBACK');
  }
}
