import type { DoctorDatabase } from './examined.ts';

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

/** What a commit on PostgreSQL is worth. */
export async function readPostgresSettings(
  database: Pick<DoctorDatabase, 'query'>,
): Promise<PostgresSettings> {
  const [row] = await database.query<PostgresSettings>(
    `SELECT current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       CAST(current_setting('server_version_num') AS integer) AS version,
       getdatabaseencoding() AS encoding,
       CAST(current_setting('max_connections') AS integer) AS max_connections,
       pg_is_in_recovery() AS is_replica`,
  );
  if (row === undefined) throw new Error('the database says nothing of itself');
  return row;
}

/** Settings with which an answer that was given can be lost when the power fails. */
export function unsafeSettings(settings: PostgresSettings): readonly string[] {
  const { fsync, full_page_writes, synchronous_commit } = settings;
  return Object.entries({ fsync, full_page_writes, synchronous_commit })
    .filter(([, value]) => value === 'off')
    .map(([name]) => `${name}=off`);
}
