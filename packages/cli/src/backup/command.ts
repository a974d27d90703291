import { stat } from 'node:fs/promises';
import { digestOf, writeFileAtomically } from '../atomic-write.ts';
import { type StandaloneCommand, table, value } from '../command.ts';
import { backupPostgres } from './postgres.ts';
import { type BackupDatabase, backupSqlite } from './sqlite.ts';

/**
 * Database to save: the path of a SQLite file, which servers may be using, or the URL of a PostgreSQL
 * database.
 */
export type BackupSource =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgresql'; readonly url: string };

/** Dependencies of the command `backup`, which the host application provides. */
export interface BackupCommandOptions {
  /** Finds the database of the installation to back up. */
  readonly find: () => Promise<BackupSource>;
  /** Opens an existing SQLite file with better-sqlite3. Fails if the file is missing. */
  readonly openFile: (file: string) => BackupDatabase;
}

/**
 * Makes the command `backup`, which saves the database while servers use it and verifies the copy. The backup
 * does not contain the sealing keys.
 */
export function backupCommand({ find, openFile }: BackupCommandOptions): StandaloneCommand {
  return {
    standalone: true,
    about: 'save the database to a file while servers run, and verify it; keep the sealing keys elsewhere',
    example: '--file /backup/ostiary-2030-01-31.sqlite',
    flags: { file: value('where to; it must not be there yet', { required: true }) },
    async run(args, terminal) {
      const file = args.required('file');
      const source = await find();
      const rows = await writeFileAtomically(file, async (unfinished) => {
        if (source.engine === 'postgresql')
          return (await backupPostgres(source.url, unfinished, terminal.progress)).length;
        const from = openFile(source.file);
        try {
          const counts = await backupSqlite(from, { file: unfinished, open: openFile }, terminal.progress);
          return Object.fromEntries(counts);
        } finally {
          from.close();
        }
      });
      const { size: bytes } = await stat(file);
      const sha256 = await digestOf(file);
      const all = typeof rows === 'number' ? rows : Object.keys(rows).length;
      const text = [
        ['tables', String(all)],
        ...(typeof rows === 'number'
          ? []
          : [['rows', String(Object.values(rows).reduce((sum, count) => sum + count, 0))]]),
        ['bytes', String(bytes)],
        ['SHA-256', sha256],
      ];
      return {
        text: `Saved to ${file}, and verified.\n${table(text)}`,
        json: { engine: source.engine, file, bytes, sha256, tables: rows },
        note: 'The sealing keys are not in it, and nothing of it can be used without them.',
      };
    },
  };
}
