import {
  checkSqlite,
  type MovedTable,
  type MoveOptions,
  moveFromSqlite,
} from '@ostiary/adapter-postgres/move';
import { CommandUsageError, type StandaloneCommand, table, toggle, value } from '@ostiary/cli';
import Sqlite from 'better-sqlite3';
import { ConfigError } from '../config.ts';
import { migrate } from '../database/migrations.ts';
import { openPostgres } from '../database/postgres.ts';
import { sqliteMigrations } from '../database/sqlite-migrations.ts';
import { serverTables } from './moved-tables.ts';

function openFile(file: string): Sqlite.Database {
  try {
    return new Sqlite(file, { fileMustExist: true });
  } catch (error) {
    throw new ConfigError(`${file} cannot be opened (${error instanceof Error ? error.message : error})`);
  }
}

/** The tables of this server have to be those that `serverTables` describes. */
function assertCurrent(from: Sqlite.Database): void {
  const hasTable = from.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'app_migrations'").get();
  if (hasTable === undefined) throw new ConfigError('the file holds no installation of this server');
  const applied = from.prepare('SELECT count(*) FROM app_migrations').pluck().get();
  if (applied === sqliteMigrations.length) return;
  throw new ConfigError(
    Number(applied) > sqliteMigrations.length
      ? 'the file belongs to a newer version of this server; update the server'
      : 'the file belongs to an older version of this server; start this version on it once, stop it, and move then',
  );
}

/** Tells people how far it is, once a second. */
function progress(): NonNullable<MoveOptions['onProgress']> {
  let next = performance.now() + 1000;
  return ({ table: name, step, rows, of }) => {
    if (performance.now() < next) return;
    next = performance.now() + 1000;
    process.stderr.write(`${step} ${name}: ${rows} of ${of}\n`);
  };
}

/** `to` is `null` for a check. */
async function move(file: string, to: string | null, isQuiet: boolean): Promise<readonly MovedTable[]> {
  const from = openFile(file);
  try {
    assertCurrent(from);
    const options = { from, host: serverTables, ...(!isQuiet && { onProgress: progress() }) };
    if (to === null) return await checkSqlite(options);
    const database = openPostgres(to, 2);
    try {
      await migrate(database, Date.now());
      return await moveFromSqlite({ ...options, pool: database.pool });
    } finally {
      await database.close();
    }
  } finally {
    from.close();
  }
}

/**
 * Moves an installation from its SQLite file to PostgreSQL. It asks nothing: the file is only read, the tables on
 * PostgreSQL have to be empty, and whatever happens, everything is moved or nothing.
 */
export const moveCommand: StandaloneCommand = {
  standalone: true,
  about: 'move the installation from its SQLite file to PostgreSQL: all of it or nothing',
  flags: {
    from: value('the file; stop the server first'),
    // Everybody on the machine can see arguments.
    to: value('postgres://… (DATABASE_URL, which is the place for a URL with a password)'),
    check: toggle('read and verify the file, without PostgreSQL'),
  },
  async run(args) {
    const file = args.required('from');
    const url = args.text('to') ?? process.env.DATABASE_URL ?? '';
    const to = args.has('check') ? null : url;
    if (to !== null && !/^postgres(?:ql)?:\/\/./.test(to)) {
      throw new CommandUsageError('--to (or DATABASE_URL) must begin with postgres:// or postgresql://');
    }
    const tables = await move(file, to, args.json);
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
