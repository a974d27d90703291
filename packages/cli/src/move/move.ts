import { createHash } from 'node:crypto';
import { createTables, type PostgresClient, type PostgresPoolClient } from '@ostiary/adapter-postgres';
import { MoveError, moveFailed } from './errors.ts';
import {
  assertUsable,
  type CheckOptions,
  type MoveOptions,
  type MoveProgress,
  type ParsedMove,
  parseMove,
} from './options.ts';
import { batchesOf, countOf, type Row } from './source.ts';
import { held } from './sqlite.ts';
import { ostiaryTables, type TableMove } from './tables.ts';
import { insert, settle, storedIn, type Target, takeEmpty, targetIn } from './target.ts';
import { lineOf } from './values.ts';

/**
 * Number of rows of a table, and the SHA-256 of all rows in hexadecimal. Both must be equal on both sides of
 * the move.
 */
interface Digest {
  readonly rows: number;
  readonly digest: string;
}

/** Name and digest of a table that was moved or checked. */
export interface MovedTable extends Digest {
  /** Name of the table. Tables of the host application include their schema: `app.users`. */
  readonly table: string;
}

/**
 * Time for which the move waits until other connections release the tables, in milliseconds. Servers that use
 * the tables must be stopped before a move.
 */
const lockMs = 10_000;

/** Time after which PostgreSQL ends the transaction if this machine no longer responds, in milliseconds. */
const silenceMs = 300_000;

/**
 * Copies all data of Ostiary from a SQLite file to PostgreSQL in one transaction: everything, or nothing if
 * anything fails. Each table is read back before the commit and compared by row count and SHA-256. The file
 * is only read and must not be open elsewhere. Missing tables of Ostiary on PostgreSQL are created; existing
 * tables must be empty. Tables of the host application are created by `host.create`, or must exist.
 *
 * @returns the number of rows and the digest of each table
 * @throws TypeError for an option that is missing, wrong or unknown
 * @throws MoveError if the move is refused or fails. Nothing was moved then, unless the connection broke
 * during the commit, as the message says: then the outcome is unknown
 *
 * @example
 * ```ts
 * import { moveFromSqlite } from '@ostiary/cli/move';
 * import Sqlite from 'better-sqlite3';
 * import { Pool } from 'pg';
 *
 * const from = new Sqlite('ostiary.db', { fileMustExist: true });
 * const pool = new Pool({ connectionString: 'postgres://ostiary@localhost/ostiary' });
 * console.table(await moveFromSqlite({ from, pool }));
 * await pool.end();
 * from.close();
 * ```
 */
export async function moveFromSqlite(options: MoveOptions): Promise<MovedTable[]> {
  const move = parseMove(options);
  try {
    return await held(move.from, () => onClient(move, (client) => inTransaction(client, move)));
  } catch (error) {
    throw moveFailed(error);
  }
}

/**
 * Reads all data that {@link moveFromSqlite} would move, and returns the row counts and digests of its
 * tables. Needs no PostgreSQL.
 *
 * @throws TypeError for an option that is wrong
 * @throws MoveError if the file cannot be moved as it is
 */
export async function checkSqlite(options: CheckOptions): Promise<MovedTable[]> {
  const { from } = options;
  assertUsable(from, 'checkSqlite');
  try {
    return await held(from, async () => {
      const checked: MovedTable[] = [];
      for (const target of tablesOf(options)) {
        const rows = batchesOf(from, target.table, target.label);
        const digest = await digestOf(target.table, rows, progressOf(options, target, 'verifying'));
        checked.push({ table: target.label, ...digest });
      }
      return checked;
    });
  } catch (error) {
    throw moveFailed(error);
  }
}

/**
 * Computes the digest of a table: over the names of its columns, then over its rows in key order, each as a
 * line of JSON.
 *
 * @param counted - called after each batch with the number of rows so far
 */
async function digestOf(
  { columns }: TableMove,
  batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>,
  counted: (rows: number) => void,
): Promise<Digest> {
  const hash = createHash('sha256').update(lineOf(Object.keys(columns)));
  let count = 0;
  for await (const rows of batches) {
    for (const row of rows) hash.update(lineOf(row));
    count += rows.length;
    counted(count);
  }
  return { rows: count, digest: hash.digest('hex') };
}

/** Lists the tables to move, each after the tables that it refers to. */
function tablesOf({ from, host }: CheckOptions, schema = 'ostiary'): Target[] {
  const own = ostiaryTables(from).map((table) => targetIn(schema, table, table.name));
  const theirs = host?.tables.map((table) => targetIn(host.schema, table, `${host.schema}.${table.name}`));
  return [...own, ...(theirs ?? [])];
}

/** Makes the callback that reports the progress of a table. */
function progressOf(
  { from, onProgress }: CheckOptions,
  { table, label }: Target,
  step: MoveProgress['step'],
): (rows: number) => void {
  const of = countOf(from, table);
  return (rows) => onProgress?.({ table: label, step, rows, of });
}

/**
 * Runs the whole move on one connection. If the move fails, the connection is closed, which always rolls the
 * transaction back.
 */
async function onClient<T>({ pool }: ParsedMove, work: (client: PostgresClient) => Promise<T>): Promise<T> {
  // Ignore the event: the running statement reports the broken connection.
  const ignore = () => undefined;
  pool.on?.('error', ignore);
  let client: PostgresPoolClient | null = null;
  let isDone = false;
  try {
    client = await pool.connect();
    client.on?.('error', ignore);
    const result = await work(client);
    isDone = true;
    return result;
  } finally {
    client?.removeListener?.('error', ignore);
    client?.release(!isDone);
    pool.removeListener?.('error', ignore);
  }
}

async function inTransaction(client: PostgresClient, move: ParsedMove): Promise<MovedTable[]> {
  await client.query({
    text: `
      BEGIN ISOLATION LEVEL READ COMMITTED;
      SET LOCAL statement_timeout = 0;
      SET LOCAL lock_timeout = ${lockMs};
      SET LOCAL idle_in_transaction_session_timeout = ${silenceMs};
      SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'
    `,
  });
  const moved = await allTables(client, move);
  const { command } = await commit(client);
  if (command === 'ROLLBACK')
    throw new MoveError('nothing was moved: PostgreSQL rolled the transaction back');
  return moved;
}

async function allTables(client: PostgresClient, move: ParsedMove): Promise<MovedTable[]> {
  // Takes the migration lock for the transaction: a server that starts on this schema waits until everything
  // is there.
  await createTables(client, { schema: move.schema });
  await move.host?.create?.(client);
  const targets = tablesOf(move, move.schema);
  await takeEmpty(client, targets);
  const moved: MovedTable[] = [];
  for (const target of targets) moved.push(await oneTable(client, target, move));
  return moved;
}

async function oneTable(client: PostgresClient, target: Target, move: CheckOptions): Promise<MovedTable> {
  const { table, label } = target;
  async function* stored(): AsyncGenerator<readonly Row[]> {
    for (const rows of batchesOf(move.from, table, label)) {
      await insert(client, target, rows);
      yield rows;
    }
  }
  const sent = await digestOf(table, stored(), progressOf(move, target, 'copying'));
  const found = await digestOf(table, storedIn(client, target), progressOf(move, target, 'verifying'));
  assertSame(label, countOf(move.from, table), sent, found);
  await settle(client, target);
  return { table: label, ...found };
}

function assertSame(table: string, of: number, sent: Digest, found: Digest): void {
  if (sent.rows !== of || found.rows !== of) {
    throw new MoveError(
      `nothing was moved: table ${table} has ${of} rows in SQLite and ${found.rows} in PostgreSQL`,
    );
  }
  // Row digests compare two copies. They do not protect against forgery.
  if (!Object.is(sent.digest, found.digest)) {
    throw new MoveError(
      `nothing was moved: the rows of table ${table} are not the same in PostgreSQL ` +
        `(${found.digest}) as in SQLite (${sent.digest})`,
    );
  }
}

/** Commits the move. If the connection breaks during the commit, and only then, the outcome is unknown. */
async function commit(client: PostgresClient): Promise<{ readonly command?: string }> {
  try {
    return await client.query({ text: 'COMMIT' });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new MoveError(
      `the connection broke during the commit (${detail}): only PostgreSQL knows whether everything was moved or ` +
        'nothing. Move again: where tables have rows it is refused, and then everything is there, because all of it ' +
        'was compared before the commit',
      { cause: error },
    );
  }
}
