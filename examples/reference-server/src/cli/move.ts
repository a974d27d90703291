import { type HostTables, moveCommand, type SqliteDatabase, type TableMove } from '@ostiary/cli/move';
import Sqlite from 'better-sqlite3';
import { ConfigError } from '../config-error.ts';
import { migrateIn, readMigrations } from '../database/migrations.ts';
import { openPostgres, transactionOf } from '../database/postgres.ts';

/**
 * Names of this server's tables to move, each after the tables to which it refers. The list of running
 * processes is not moved.
 */
const tables = (
  'users user_emails credentials sessions throttle accounts movements postings executions ' +
  'staff staff_passkeys staff_codes staff_links staff_sessions staff_challenges'
).split(' ');

const kinds: Readonly<Record<string, 'text' | 'integer' | 'bytes'>> = {
  TEXT: 'text',
  INTEGER: 'integer',
  BLOB: 'bytes',
};

interface Column {
  readonly name: string;
  readonly type: string;
  /** Position of the column in the primary key, from 1; 0 for other columns. */
  readonly pk: number;
}

/**
 * Describes a table of this server for the move. The table of users, for example, is `app_users` in the
 * SQLite file and `app.users` on PostgreSQL, with the same columns.
 */
function tableOf(from: SqliteDatabase, name: string): TableMove {
  const columns = from
    .prepare(`SELECT name, type, pk FROM pragma_table_info('app_${name}')`)
    .all() as Column[];
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const [first] = key;
  return {
    name,
    source: `app_${name}`,
    columns: Object.fromEntries(columns.map(({ name, type }) => [name, kinds[type] ?? 'text'])),
    key: key.map(({ name }) => name),
    // On PostgreSQL an identity column generates these numbers.
    ...(key.length === 1 && first?.type === 'INTEGER' && { identity: first.name }),
  };
}

/** Schema of this server's own tables on PostgreSQL. */
const schema = 'app';

/** Returns this server's own tables in the SQLite file, and the function that creates them on PostgreSQL. */
export const hostTables = (from: SqliteDatabase): HostTables => ({
  schema,
  tables: tables.map((name) => tableOf(from, name)),
  create: (client) => migrateIn(transactionOf(client, schema), schema, Date.now()),
});

/**
 * Opens the SQLite file to move. @throws ConfigError if the file cannot be opened, or is no database of this
 * version of the server
 */
function openFile(file: string): Sqlite.Database {
  let from: Sqlite.Database;
  try {
    from = new Sqlite(file, { fileMustExist: true });
  } catch (error) {
    throw new ConfigError(`${file} cannot be opened (${error instanceof Error ? error.message : error})`);
  }
  try {
    assertCurrent(from);
  } catch (error) {
    from.close();
    throw error;
  }
  return from;
}

function assertCurrent(from: Sqlite.Database): void {
  const hasTable = from.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'app_migrations'").get();
  if (hasTable === undefined) throw new ConfigError('the file holds no installation of this server');
  const applied = Number(from.prepare('SELECT count(*) FROM app_migrations').pluck().get());
  const known = readMigrations('sqlite').length;
  if (applied === known) return;
  throw new ConfigError(
    applied > known
      ? 'the file belongs to a newer version of this server; update the server'
      : 'the file belongs to an older version of this server; start this version on it once, stop it, and move then',
  );
}

/**
 * Command `move`: moves an installation, including the server's own tables, from its SQLite file to
 * PostgreSQL.
 */
export const move = moveCommand({
  openFile,
  openTarget: async (url) => openPostgres(url, 2, schema),
  host: hostTables,
});
