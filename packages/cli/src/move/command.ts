import type { PostgresPool } from '@ostiary/adapter-postgres';
import { CommandUsageError, type StandaloneCommand, table, toggle, value } from '../command.ts';
import { secretVariable } from '../secret-variable.ts';
import { checkSqlite, type MovedTable, moveFromSqlite } from './move.ts';
import type { HostTables, MoveProgress } from './options.ts';
import type { SqliteDatabase } from './sqlite.ts';

/** Dependencies of the command `move`, which the host application provides. */
export interface MoveCommandOptions {
  /**
   * Opens a SQLite file with better-sqlite3, which must be installed. Fails if the file cannot be moved.
   */
  readonly openFile: (file: string) => SqliteDatabase & { close(): unknown };
  /** Opens the PostgreSQL database to which the data is moved, and changes nothing in it. */
  readonly openTarget: (url: string) => Promise<{ readonly pool: PostgresPool; close(): Promise<void> }>;
  /** Returns the host application's own tables in the SQLite file, and the function that creates them. */
  readonly host?: (from: SqliteDatabase) => HostTables;
}

/**
 * Makes the command `move`, which moves an installation from its SQLite file to PostgreSQL. It needs no
 * confirmation: it only reads the file, requires empty tables on PostgreSQL, and moves either everything or
 * nothing.
 */
export function moveCommand({ openFile, openTarget, host }: MoveCommandOptions): StandaloneCommand {
  /** Moves the SQLite file to the database `to`, or only checks the file if `to` is `null`. */
  async function move(
    file: string,
    to: string | null,
    onProgress: (progress: MoveProgress) => void,
  ): Promise<readonly MovedTable[]> {
    const from = openFile(file);
    try {
      const options = {
        from,
        ...(host !== undefined && { host: host(from) }),
        onProgress,
      };
      if (to === null) return await checkSqlite(options);
      const target = await openTarget(to);
      try {
        return await moveFromSqlite({ ...options, pool: target.pool });
      } finally {
        await target.close();
      }
    } finally {
      from.close();
    }
  }

  return {
    standalone: true,
    about: 'move the installation from its SQLite file to PostgreSQL: all of it or nothing',
    flags: {
      from: value('the file; stop the server first', { required: true }),
      // A URL with a password belongs in the environment: every user of the machine can see arguments.
      to: value(
        'postgres://… (DATABASE_URL or DATABASE_URL_FILE, which are the places for a URL with a password)',
      ),
      check: toggle('read and verify the file, without PostgreSQL'),
    },
    example: '--from /var/lib/ostiary/ostiary.sqlite --check',
    async run(args, terminal) {
      const file = args.required('from');
      const isCheck = args.has('check');
      const to = isCheck ? null : (args.text('to') ?? secretVariable('DATABASE_URL', process.env) ?? '');
      if (to !== null && !/^postgres(?:ql)?:\/\/./.test(to)) {
        throw new CommandUsageError(
          '--to (or DATABASE_URL, or the file that DATABASE_URL_FILE names) must begin with postgres:// or postgresql://',
        );
      }
      const tables = await move(file, to, ({ table: name, step, rows, of }) =>
        terminal.progress({ step: `${step} ${name}`, done: rows, of, unit: 'rows' }),
      );
      const rows = tables.map(({ table: name, rows, digest }) => [name, String(rows), digest.slice(0, 16)]);
      const next =
        to === null
          ? 'Everything in this file can be moved.'
          : 'Moved, read back and compared. Start the servers with DATABASE_URL; keep the file, and start none on it.';
      return {
        text: `${table([['TABLE', 'ROWS', 'SHA-256'], ...rows])}\n\n${next}`,
        json: { moved: to !== null, tables },
      };
    },
  };
}
