import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import type { Ends } from '../../support/proof.ts';
import { disorders } from '../sqlite-ledger.ts';
import type { Source } from './backup.ts';

const fileName = 'ostiary.sqlite';

/** Tables in which rows are only ever added: what they held before a backup and after it are limits of what is in it. */
const growing = ['transfers', 'app_movements', 'app_postings', 'app_users', 'clients', 'api_keys'];

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
export async function sqliteSource(ends: Ends): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-backup-'));
  ends.add(() => rm(folder, { recursive: true, force: true }));
  const [live, restored] = [join(folder, 'live'), join(folder, 'restored')];
  for (const each of [live, restored]) await mkdir(each);
  const copied = join(restored, fileName);
  return {
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
        const isBetween = (table: string): boolean => {
          const rows = held.get(table) ?? -1;
          return rows >= (before.get(table) ?? 0) && rows <= (after.get(table) ?? 0);
        };
        return {
          store: { OSTIARY_DATA_DIR: restored },
          rows: [...held.values()].reduce((sum, count) => sum + count, 0),
          different: [...(isSound ? [] : ['the file']), ...growing.filter((table) => !isBetween(table))],
        };
      });
    },
    disorders: async () => opened(copied, (database) => database.prepare(disorders).all().length),
  };
}
