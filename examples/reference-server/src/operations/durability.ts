import type { Database } from '../database/database.ts';

/** What a PostgreSQL server says of itself. */
export interface PostgresSettings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  /** Such as 180004. */
  readonly version: number;
  readonly encoding: string;
  readonly max_connections: number;
  readonly is_replica: boolean;
}

/** What a commit on PostgreSQL is worth; `null` on SQLite. */
export async function readPostgresSettings(database: Database): Promise<PostgresSettings | null> {
  if (database.schema === null) return null;
  const row = await database.get<PostgresSettings>(
    `SELECT current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       CAST(current_setting('server_version_num') AS integer) AS version,
       getdatabaseencoding() AS encoding,
       CAST(current_setting('max_connections') AS integer) AS max_connections,
       pg_is_in_recovery() AS is_replica`,
  );
  return row ?? null;
}

/** Settings with which an answer that was given can be lost when the power fails. */
export function unsafeSettings(settings: PostgresSettings): readonly string[] {
  const { fsync, full_page_writes, synchronous_commit } = settings;
  return Object.entries({ fsync, full_page_writes, synchronous_commit })
    .filter(([, value]) => value === 'off')
    .map(([name]) => `${name}=off`);
}
