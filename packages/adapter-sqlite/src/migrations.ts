import { createHash } from 'node:crypto';
import type { Connection } from './connection.ts';
import { StorageUnavailableError } from './errors.ts';
import { shippedMigrations } from './shipped-sql.built-in.ts';
import type { SqlFile } from './sql-files.ts';

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
    // A Windows checkout may have changed the line ends, which is no change of the migration.
    const sql = text.replaceAll('\r\n', '\n');
    return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/**
 * Brings the schema up to date in one transaction, even if several processes start at once. The first process
 * that gets the write lock applies the missing migrations; the others then find them applied.
 *
 * Throws SQLITE_BUSY while another connection writes; the caller tries again.
 */
export function migrate(connection: Connection, migrations: readonly Migration[]): void {
  connection
    .transaction(() => {
      connection.exec(`
        CREATE TABLE IF NOT EXISTS schema_migrations (
          number INTEGER PRIMARY KEY,
          name TEXT NOT NULL,
          checksum TEXT NOT NULL
        ) STRICT
      `);
      const applied = connection
        .prepare<[], Applied>('SELECT number, name, checksum FROM schema_migrations ORDER BY number')
        .all();
      assertKnown(applied, migrations);

      const record = connection.prepare<[Migration]>(
        'INSERT INTO schema_migrations (number, name, checksum) VALUES (:number, :name, :checksum)',
      );
      for (const migration of migrations.slice(applied.length)) {
        connection.exec(migration.sql);
        record.run(migration);
      }
      // Write on every start, so that a read-only disk is noticed before the first request.
      connection.exec('UPDATE schema_migrations SET checksum = checksum WHERE number = 1');
    })
    .immediate();
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>;

function assertKnown(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const [index, { number, name, checksum }] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined) {
      throw new StorageUnavailableError(
        `the database has schema ${applied.length} (${name}) and this version of @ostiary/adapter-sqlite ` +
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
