import { createHash } from 'node:crypto';
import { StorageUnavailableError } from './errors.ts';
import { shippedFunctions, shippedMigrations } from './shipped-sql.built-in.ts';
import type { SqlFile } from './sql-files.ts';
import type { Connection } from './statement.ts';

/** A migration of the schema, from a file `NNNN_slug.sql`. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /** Hexadecimal SHA-256 of the migration's text. */
  readonly checksum: string;
}

/** Parses the migration files, in the order of their numbers. */
export function readMigrations(files: readonly SqlFile[] = shippedMigrations): readonly Migration[] {
  return files.map(({ name, text }, index) => {
    const number = Number(/^(\d{4})_[a-z0-9-]+\.sql$/.exec(name)?.[1]);
    if (number !== index + 1) throw new Error(`migration files must be numbered without gaps: ${name}`);
    const sql = withoutCarriageReturns(text);
    return { number, name, sql, checksum: sha256(sql) };
  });
}

/** All functions of the database schema together. Their checksum is recorded as that of migration 0. */
export type Functions = Pick<Migration, 'sql' | 'checksum'>;

/**
 * Reads the files of the database functions, ordered by name. The order does not matter, because PL/pgSQL
 * resolves the bodies at the first call.
 */
export function readFunctions(files: readonly SqlFile[] = shippedFunctions): Functions {
  const sql = withoutCarriageReturns(files.map(({ text }) => text).join('\n'));
  return { sql, checksum: sha256(sql) };
}

/** Replaces the line ends of a Windows checkout, so that they do not count as a change of the file. */
function withoutCarriageReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Brings a schema up to date inside a transaction, however many processes start at once. The first process
 * that gets the lock applies the missing migrations and then all functions; the others then find them
 * applied. The lock ends with the transaction, so this is safe behind a pooler.
 *
 * Functions belong to the last migration. A version that changes a function also ships a migration, even an
 * empty one: functions are replaced only together with a migration, and otherwise a process whose functions
 * are not the recorded ones is refused.
 *
 * @param schema - name of the schema, unquoted
 */
export async function migrate(
  connection: Connection,
  schema: string,
  migrations: readonly Migration[],
  functions: Functions,
): Promise<void> {
  await connection.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockOf(schema)]);
  await assertServer(connection);
  const table = `"${schema}".schema_migrations`;
  // Check before creating: CREATE … IF NOT EXISTS needs rights that a process which only starts may not have.
  if (!(await exists(connection, 'SELECT FROM pg_namespace WHERE nspname = $1', schema))) {
    await connection.query(`CREATE SCHEMA "${schema}"`, []);
  }
  if (!(await exists(connection, 'SELECT FROM to_regclass($1) AS found WHERE found IS NOT NULL', table))) {
    await connection.query(
      `CREATE TABLE ${table} (number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)`,
      [],
    );
  }
  const { rows } = await connection.query(`SELECT number, name, checksum FROM ${table} ORDER BY number`, []);
  const recorded = rows as Applied[];
  const applied = recorded.filter(({ number }) => number > 0);
  assertKnown(applied, migrations);

  const missing = migrations.slice(applied.length);
  if (missing.length === 0) {
    assertUnchanged(recorded, functions);
  } else {
    // A server before PostgreSQL 17 has no `transaction_timeout`.
    const { rows } = await connection.query(
      `SELECT name, setting FROM pg_settings WHERE name IN ('search_path', 'statement_timeout', 'transaction_timeout')`,
      [],
    );
    const before = rows as Setting[];
    // The files name their tables without a schema; other statements always name it. Functions keep this
    // path. Temporary tables come last, so that a host's temporary table with the same name is not used.
    const path = `"${schema}", pg_temp`;
    const during = before.map(({ name }) => ({ name, setting: name === 'search_path' ? path : '0' }));
    await set(connection, during);
    for (const { number, name, sql, checksum } of missing) {
      await connection.query(sql, []);
      await record(connection, table, { number, name, checksum });
    }
    await connection.query(functions.sql, []);
    await record(connection, table, { number: 0, name: 'functions', checksum: functions.checksum });
    // The transaction of a host that creates the tables goes on.
    await set(connection, before);
  }
  // Write on every start, so that a read-only database is noticed before the first request.
  await connection.query(`UPDATE ${table} SET checksum = checksum WHERE number = 1`, []);
}

/** A setting of the server, as `pg_settings` shows it. */
interface Setting {
  readonly name: string;
  readonly setting: string;
}

/** Changes settings until the end of the transaction. */
async function set(connection: Connection, settings: readonly Setting[]): Promise<void> {
  for (const { name, setting } of settings) {
    await connection.query('SELECT set_config($1, $2, true)', [name, setting]);
  }
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>;

function assertKnown(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const [index, { number, name, checksum }] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined) {
      const newest = applied.at(-1)?.name;
      throw new StorageUnavailableError(
        `the database has schema ${applied.length} (${newest}) and this version of @ostiary/adapter-postgres ` +
          `knows ${migrations.length}: upgrade the package, schemas never go back`,
      );
    }
    if (migration.number !== number || migration.checksum !== checksum) {
      throw new StorageUnavailableError(
        `the migration ${name} was changed after it was applied to this database: restore the shipped file`,
      );
    }
  }
}

function assertUnchanged(recorded: readonly Applied[], functions: Functions): void {
  if (recorded.find(({ number }) => number === 0)?.checksum === functions.checksum) return;
  throw new StorageUnavailableError(
    'the functions of the database are not those of this version of @ostiary/adapter-postgres, although its migrations are: ' +
      'restore the shipped files',
  );
}

async function record(
  connection: Connection,
  table: string,
  { number, name, checksum }: Applied,
): Promise<void> {
  await connection.query(
    `INSERT INTO ${table} (number, name, checksum) VALUES ($1, $2, $3)
    ON CONFLICT (number) DO UPDATE SET checksum = excluded.checksum`,
    [number, name, checksum],
  );
}

async function assertServer(connection: Connection): Promise<void> {
  const { rows } = await connection.query(
    `SELECT
      current_setting('server_version_num')::integer / 10000 AS version,
      current_setting('server_encoding') AS encoding`,
    [],
  );
  const [{ version, encoding }] = rows as [{ version: number; encoding: string }];
  if (version < 15) {
    throw new StorageUnavailableError(
      `@ostiary/adapter-postgres needs PostgreSQL 15 or later and this is ${version}: upgrade the server`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new StorageUnavailableError(
      `the database has the encoding ${encoding}: create one with ENCODING 'UTF8'`,
    );
  }
}

async function exists(connection: Connection, question: string, name: string): Promise<boolean> {
  return (await connection.query(question, [name])).rows.length > 0;
}

/**
 * Returns the advisory lock number of a schema: 64 bits of a digest, unlikely to clash with other software.
 */
function lockOf(schema: string): bigint {
  return createHash('sha256').update(`ostiary migrations ${schema}`).digest().readBigInt64BE();
}
