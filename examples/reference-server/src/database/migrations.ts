import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { ConfigError } from '../config-error.ts';
import type { Database, Transaction } from './database.ts';

/**
 * Time limit of the migrations on PostgreSQL, in milliseconds. Migrating, and waiting for other processes that do, takes
 * longer than a request may.
 */
const patienceMs = 120_000;

/** One migration of the schema of this server. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the migration's statements, hexadecimal. */
  readonly checksum: string;
}

/**
 * Reads the migration files of an engine, in order. A released file is never edited: a change is a new file.
 */
export function readMigrations(engine: 'sqlite' | 'postgres'): readonly Migration[] {
  const folder = new URL(`../../sql/${engine}/`, import.meta.url);
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name: file.slice(5, -4), sql, checksum };
    });
}

const columns = 'name TEXT NOT NULL, checksum TEXT NOT NULL';

/**
 * Creates the table of migrations on SQLite, if it is missing. SQLite has one writer, so the transaction
 * itself is the lock.
 */
async function prepareSqlite(transaction: Transaction): Promise<void> {
  await transaction.script(
    `CREATE TABLE IF NOT EXISTS app_migrations
      (number INTEGER PRIMARY KEY, ${columns}, applied_at INTEGER NOT NULL) STRICT`,
  );
}

/**
 * Prepares the migrations on PostgreSQL: waits for another process that migrates, and creates the schema and
 * the table of migrations if they are missing. The lock ends with the transaction, so it works behind any
 * pooler.
 */
async function preparePostgres(transaction: Transaction, schema: string): Promise<void> {
  const lock = createHash('sha256').update(`reference-server migrations ${schema}`).digest();
  await transaction.get('SELECT pg_advisory_xact_lock(:lock)', { lock: lock.readBigInt64BE() });
  // Not `CREATE … IF NOT EXISTS`: it needs privileges that an up-to-date server does not.
  const found = await transaction.get<{ has_schema: unknown; has_table: unknown }>(
    `SELECT
      (SELECT 1 FROM pg_namespace WHERE nspname = :schema) AS has_schema,
      (SELECT 1 FROM pg_tables WHERE schemaname = :schema AND tablename = 'migrations') AS has_table`,
    { schema },
  );
  if (found?.has_schema === null) await transaction.script(`CREATE SCHEMA "${schema}"`);
  // The migrations name their tables without a schema; statements never do.
  await transaction.script(`SET LOCAL search_path TO "${schema}"; SET LOCAL statement_timeout = 0`);
  if (found?.has_table === null) {
    await transaction.script(
      `CREATE TABLE migrations (number integer PRIMARY KEY, ${columns}, applied_at bigint NOT NULL)`,
    );
  }
}

/**
 * Migrates the tables of this server. Several processes may start at once.
 *
 * @throws {@link ConfigError} if the database belongs to a newer version of this server
 * @throws Error if a released migration was edited
 */
export async function migrate(
  database: Database,
  now: number,
  migrations?: readonly Migration[],
): Promise<void> {
  const { schema } = database;
  await database.write(
    (transaction) => migrateIn(transaction, schema, now, migrations),
    schema === null ? {} : { patienceMs },
  );
}

/** Migrates the tables of this server in a transaction of the caller. Throws like {@link migrate}. */
export async function migrateIn(
  transaction: Transaction,
  schema: string | null,
  now: number,
  migrations: readonly Migration[] = readMigrations(schema === null ? 'sqlite' : 'postgres'),
): Promise<void> {
  await (schema === null ? prepareSqlite(transaction) : preparePostgres(transaction, schema));
  const applied = await transaction.all<{ checksum: string }>(
    'SELECT checksum FROM app_migrations ORDER BY number',
  );
  if (applied.length > migrations.length)
    throw new ConfigError('the database belongs to a newer version of this server; update the server');
  for (const [index, { name, sql, checksum }] of migrations.entries()) {
    const before = applied[index];
    if (before === undefined) {
      await transaction.script(sql);
      await transaction.run(
        'INSERT INTO app_migrations (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :now)',
        { number: index + 1, name, checksum, now },
      );
    } else if (before.checksum !== checksum) {
      throw new Error(`migration ${index + 1} (${name}) differs from the one that made this database`);
    }
  }
}
