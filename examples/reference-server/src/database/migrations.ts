import { createHash } from 'node:crypto';
import { ConfigError } from '../config.ts';
import type { Database } from './database.ts';

/**
 * The tables of this server. They start with `app_`, so that they never meet those of Ostiary in the same file.
 * Forward only: what has been released is never edited, a change is a new entry.
 */
const migrations = [
  {
    name: 'users',
    sql: `
      CREATE TABLE app_users (
        sub TEXT PRIMARY KEY,
        kid TEXT NOT NULL UNIQUE,
        handle TEXT NOT NULL UNIQUE COLLATE NOCASE,
        phone TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        avatar_url TEXT,
        role TEXT NOT NULL,
        country TEXT NOT NULL,
        kyc_tier INTEGER NOT NULL CHECK (kyc_tier BETWEEN 0 AND 3),
        kyc_status TEXT NOT NULL CHECK (kyc_status IN ('approved', 'pending', 'rejected')),
        htg_minor INTEGER NOT NULL,
        usd_minor INTEGER NOT NULL,
        trust_score INTEGER NOT NULL CHECK (trust_score BETWEEN 0 AND 100),
        trust_tier TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        blocked_at INTEGER
      ) STRICT;
      CREATE TABLE app_credentials (
        id TEXT PRIMARY KEY,
        sub TEXT NOT NULL REFERENCES app_users ON DELETE CASCADE,
        type TEXT NOT NULL,
        issued_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT;
      CREATE INDEX app_credentials_by_sub ON app_credentials (sub);`,
  },
  {
    name: 'sign-in',
    sql: `
      CREATE TABLE app_sessions (
        digest BLOB PRIMARY KEY,
        sub TEXT NOT NULL REFERENCES app_users ON DELETE CASCADE,
        authenticated_at INTEGER NOT NULL,
        seen_at INTEGER NOT NULL,
        ends_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX app_sessions_by_sub ON app_sessions (sub);
      CREATE INDEX app_sessions_by_end ON app_sessions (ends_at);
      CREATE TABLE app_throttle (
        subject BLOB PRIMARY KEY,
        failures INTEGER NOT NULL,
        ends_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX app_throttle_by_end ON app_throttle (ends_at);`,
  },
] as const;

function checksum(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}

/**
 * Brings the tables up to date; safe when several processes start at once.
 *
 * @throws {@link ConfigError} when the file belongs to a newer version of this server
 * @throws Error when a released migration was edited
 */
export async function migrate(database: Database, now: number): Promise<void> {
  const { connection } = database;
  await database.write(() => {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS app_migrations (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
      ) STRICT`,
    );
    const applied = connection
      .prepare<[], { number: number; checksum: string }>(
        'SELECT number, checksum FROM app_migrations ORDER BY number',
      )
      .all();
    if (applied.length > migrations.length) {
      throw new ConfigError('the database belongs to a newer version of this server; update the server');
    }
    const record = connection.prepare('INSERT INTO app_migrations VALUES (?, ?, ?, ?)');
    for (const [index, { name, sql }] of migrations.entries()) {
      const before = applied[index];
      if (before === undefined) {
        connection.exec(sql);
        record.run(index + 1, name, checksum(sql), now);
      } else if (before.checksum !== checksum(sql)) {
        throw new Error(`migration ${index + 1} (${name}) differs from the one that made this database`);
      }
    }
  });
}
