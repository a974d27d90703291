import { parseArgs } from 'node:util';
import {
  checkSqlite,
  type MovedTable,
  type MoveOptions,
  moveFromSqlite,
} from '@ostiary/adapter-postgres/move';
import Sqlite from 'better-sqlite3';
import { ConfigError } from '../config.ts';
import { migrate } from '../database/migrations.ts';
import { openPostgres } from '../database/postgres.ts';
import { sqliteMigrations } from '../database/sqlite-migrations.ts';
import { table, UsageError } from './command.ts';
import { serverTables } from './moved-tables.ts';

const usage = `Moves an installation from its SQLite file to PostgreSQL: all of it or, whatever happens, nothing.

  npm run move -- --from <file> --check        reads and verifies the file, without PostgreSQL
  npm run move -- --from <file> [--to <url>]   moves it; without --to, to the database of DATABASE_URL

Stop the server first: a file that anybody has open is refused. The file is only read. The tables on PostgreSQL are
created where they are missing, and have to be empty. Each is read back before the commit and compared by count and
SHA-256. Everybody on the machine can see arguments: a URL with a password belongs into DATABASE_URL. --json prints
JSON.`;

interface Request {
  readonly from: string;
  /** `null` for a check. */
  readonly to: string | null;
  readonly json: boolean;
}

function readRequest(argv: readonly string[]): Request {
  let values: ReturnType<typeof parse>['values'];
  try {
    ({ values } = parse(argv));
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'wrong arguments',
    );
  }
  const { from, check = false, json = false } = values;
  const to = values.to ?? process.env.DATABASE_URL ?? '';
  if (from === undefined || from === '') throw new UsageError('--from is missing');
  if (check) return { from, to: null, json };
  if (!/^postgres(?:ql)?:\/\/./.test(to)) {
    throw new UsageError('--to (or DATABASE_URL) must begin with postgres:// or postgresql://');
  }
  return { from, to, json };
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      check: { type: 'boolean' },
      json: { type: 'boolean' },
    },
    strict: true,
  });
}

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

async function move({ from: file, to, json }: Request): Promise<readonly MovedTable[]> {
  const from = openFile(file);
  try {
    assertCurrent(from);
    const options = { from, host: serverTables, ...(!json && { onProgress: progress() }) };
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

function report(tables: readonly MovedTable[], { to, json }: Request): string {
  if (json) return JSON.stringify({ moved: to !== null, tables }, null, 2);
  const rows = tables.map(({ table: name, rows, digest }) => [name, String(rows), digest.slice(0, 16)]);
  const text = table([['TABLE', 'ROWS', 'SHA-256'], ...rows]);
  return to === null
    ? `${text}\n\nEverything in this file can be moved.`
    : `${text}\n\nMoved, read back and compared. Start the servers with DATABASE_URL; keep the file, and start none on it.`;
}

async function run(argv: readonly string[]): Promise<number> {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) {
    (argv.length === 0 ? process.stderr : process.stdout).write(`${usage}\n`);
    return argv.length === 0 ? 2 : 0;
  }
  try {
    const request = readRequest(argv);
    process.stdout.write(`${report(await move(request), request)}\n`);
    return 0;
  } catch (error) {
    const typed = error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}${typed ? '\nRun with --help to see what can be given.' : ''}\n`);
    return typed ? 2 : 1;
  }
}

process.exitCode = await run(process.argv.slice(2));
