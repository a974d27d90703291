import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import type { Source } from './backup.ts';

const fileName = 'ostiary.sqlite';

/** Tables in which rows are only ever added: what they held before a backup and after it are limits of what is in it. */
const growing = ['transfers', 'app_movements', 'app_postings', 'app_users', 'clients', 'api_keys'];

const disorders = `
  SELECT movement_id FROM app_postings GROUP BY movement_id HAVING sum(amount) <> 0 OR count(*) <> 2
  UNION ALL SELECT id FROM app_movements WHERE id NOT IN (SELECT movement_id FROM app_postings)
  UNION ALL SELECT currency FROM app_accounts GROUP BY currency HAVING sum(balance) <> 0
  UNION ALL SELECT id FROM app_accounts AS a
    WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app_postings WHERE account_id = a.id)`;

function opened<Result>(file: string, work: (database: Driver.Database) => Result): Result {
  const database = new Driver(file, { fileMustExist: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function countRows(database: Driver.Database, tables: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    tables.map((table) => {
      const count: unknown = database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
      return [table, Number(count)];
    }),
  );
}

/** A server on a file. */
export async function sqliteSource(): Promise<{ readonly source: Source; remove(): Promise<void> }> {
  const [live, restored] = await Promise.all(
    ['live', 'restored'].map((name) => mkdtemp(join(tmpdir(), `ostiary-${name}-`))),
  );
  if (live === undefined || restored === undefined) throw new Error('no folders');
  const copied = join(restored, fileName);
  return {
    source: {
      name: 'backup with VACUUM INTO',
      size: 'all',
      store: { OSTIARY_DATA_DIR: live },
      async copy() {
        const [before, after] = opened(join(live, fileName), (database) => {
          const first = countRows(database, growing);
          database.prepare('VACUUM INTO ?').run(copied);
          return [first, countRows(database, growing)];
        });
        return opened(copied, (database) => {
          const tables = database
            .prepare<[], string>(
              `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
            )
            .pluck()
            .all();
          const held = countRows(database, tables);
          const isSound = database.pragma('integrity_check', { simple: true }) === 'ok';
          const between = (table: string): boolean => {
            const rows = held.get(table) ?? -1;
            return rows >= (before.get(table) ?? 0) && rows <= (after.get(table) ?? 0);
          };
          return {
            store: { OSTIARY_DATA_DIR: restored },
            rows: [...held.values()].reduce((sum, count) => sum + count, 0),
            different: [...(isSound ? [] : ['the file']), ...growing.filter((table) => !between(table))],
          };
        });
      },
      disorders: async () =>
        opened(copied, (database) => database.prepare(`SELECT * FROM (${disorders})`).all().length),
    },
    async remove() {
      await Promise.all([live, restored].map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}
