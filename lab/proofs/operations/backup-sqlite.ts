import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { sqliteDisorders } from '../../support/deployment/books.ts';
import type { Source } from './backup.ts';

const fileName = 'ostiary.sqlite';

function opened<Result>(file: string, work: (database: Driver.Database) => Result): Result {
  const database = new Driver(file, { fileMustExist: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Creates the folders for a deployment on a SQLite file, which is backed up. */
export async function sqliteSource(ends: AsyncDisposableStack): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-backup-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const [live, restored] = [join(folder, 'live'), join(folder, 'restored')];
  for (const each of [live, restored]) await mkdir(each);
  const copied = join(restored, fileName);
  return {
    name: 'backup with VACUUM INTO',
    size: 'all',
    store: { OSTIARY_DATA_DIR: live },
    async copy() {
      opened(join(live, fileName), (database) => database.prepare('VACUUM INTO ?').run(copied));
      const state = opened(copied, (database) => database.pragma('integrity_check', { simple: true }));
      if (state !== 'ok') throw new Error(`the restored file: ${state}`);
      return { OSTIARY_DATA_DIR: restored };
    },
    disorders: async () => opened(copied, (database) => database.prepare(sqliteDisorders).all().length),
  };
}
