import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorDatabase, Examined } from './examined.ts';
import { type CheckResult, ok, problem, sound, warning } from './finding.ts';

/** Version and settings of a PostgreSQL server. */
export interface PostgresSettings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  /** Version number of the server, such as 180004. */
  readonly version: number;
  readonly encoding: string;
  readonly max_connections: number;
  readonly is_replica: boolean;
}

/** Reads the version of PostgreSQL and the settings that the doctor checks. */
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
  if (row === undefined) throw new Error('the database returned none of its settings');
  return row;
}

/**
 * Lists the settings among `fsync`, `full_page_writes` and `synchronous_commit` that are off, as `fsync=off`:
 * a power failure can then lose committed data.
 */
export function unsafeSettings(settings: PostgresSettings): readonly string[] {
  const { fsync, full_page_writes, synchronous_commit } = settings;
  return Object.entries({ fsync, full_page_writes, synchronous_commit })
    .filter(([, value]) => value === 'off')
    .map(([name]) => `${name}=off`);
}

/**
 * Warns if servers replicate the database and commits wait for none of them. Logical subscriptions are not
 * counted.
 */
async function* checkReplication({ database }: Examined, { synchronous_commit }: PostgresSettings) {
  // PostgreSQL shows whether a standby is synchronous only to roles that may read all statistics.
  const [row] = await database.query<{ standbys: number; names: string }>(
    `SELECT current_setting('synchronous_standby_names') AS names,
       CAST(count(*) AS integer) AS standbys
     FROM pg_stat_replication WHERE pid NOT IN
       (SELECT active_pid FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)`,
  );
  if (row === undefined || row.standbys === 0) return;
  if (row.names !== '' && !['off', 'local'].includes(synchronous_commit)) return;
  const why =
    row.names === '' ? 'synchronous_standby_names is empty' : `synchronous_commit=${synchronous_commit}`;
  yield warning(
    `commits do not wait for the standby (${why})`,
    'When the standby takes over, the last payments and tokens are lost although clients got responses; a repeated payment is then paid twice.',
    'Have commits wait for one of two standbys: docs/cluster.md, "When the primary is lost". If it is never promoted, ignore this.',
  );
}

/** Number of database connections that should stay free for an operator, a backup and a dashboard. */
const spareConnections = 5;

async function* checkPostgres(examined: Examined): AsyncGenerator<CheckResult> {
  const { database, nodes } = examined;
  const settings = await readPostgresSettings(database);
  const major = Math.floor(settings.version / 10_000);
  yield sound(`PostgreSQL ${major}, commits survive a power cut`);
  const unsafe = unsafeSettings(settings);
  if (unsafe.length > 0) {
    yield problem(
      `PostgreSQL runs with ${unsafe.join(', ')}`,
      'A power failure can lose data for which clients got responses, or break the database.',
      'Turn it on in postgresql.conf, or ask the provider of the database to.',
    );
  }
  if (major < 15 || settings.encoding !== 'UTF8') {
    yield problem(
      `PostgreSQL ${major}, encoding ${settings.encoding}`,
      'It needs PostgreSQL 15 or later, and a database in UTF8.',
      'Move to such a database with pg_dump.',
    );
  }
  if (settings.is_replica) {
    yield problem(
      'the database is a replica that refuses writes',
      'Every request that writes fails.',
      'Let {databaseUrl} lead to the primary.',
    );
  }
  yield* checkReplication(examined, settings);
  const wanted = (nodes ?? []).reduce((sum, { facts }) => sum + facts.databasePool, spareConnections);
  if (wanted > settings.max_connections) {
    yield warning(
      `all processes together may open ${wanted} connections, of ${settings.max_connections}`,
      'Under load some of them get none. With a pooler in between, ignore this.',
      'Lower {databasePool}, raise max_connections, or put a pooler in between.',
    );
  }
}

/**
 * Checks whether committed data survives a crash of the database server; on PostgreSQL also the version, the
 * encoding, the replication and the number of connections.
 */
export async function* checkDatabase(examined: Examined): AsyncGenerator<CheckResult> {
  const { database } = examined;
  if (database.engine !== 'sqlite') return yield* checkPostgres(examined);
  const [journal] = await database.query<{ journal_mode: string }>('PRAGMA journal_mode');
  yield journal?.journal_mode === 'wal'
    ? ok('SQLite, commits survive a power cut')
    : problem(
        `SQLite runs with journal_mode=${journal?.journal_mode}`,
        'A power failure can lose data for which clients got responses.',
        'Keep the file on a local disk; nothing else may change its journal mode.',
      );
}

/**
 * Checks whether exactly one of several concurrent writers succeeds, as money, codes and deliveries require.
 */
export async function* checkAtomicity({ database }: Examined): AsyncGenerator<CheckResult> {
  const winners = await database.race?.();
  if (winners === undefined) return;
  yield winners === 1
    ? ok('of eight concurrent writers of a row exactly one succeeded')
    : problem(
        `${winners} of eight concurrent writers of a row succeeded, not one`,
        'Codes can be used twice, and money paid twice.',
        'Take the servers down. Use an unmodified PostgreSQL or SQLite; look for triggers, and for software that only claims to be one.',
      );
}

const gibibyte = 2 ** 30;
const inGibibytes = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;

/** File system type numbers of NFS, SMB, CIFS and SMB2 on Linux. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/**
 * Checks the permissions of the folder and the database file. If other users have any access to the folder,
 * this is a warning. It is a problem if they can also write to the folder or have any access to the file.
 */
function* checkModes(folder: number, file: number): Generator<CheckResult> {
  if (process.platform === 'win32' || (folder & 0o077) === 0) return;
  const complaint = [
    'Password hashes and personal data can be read, or everything can be replaced.',
    'chmod 700 the folder of the database, chmod 600 the files in it, and give them to the user of the server.',
  ] as const;
  yield (folder & 0o022) !== 0 || (file & 0o077) !== 0
    ? problem('other users of this machine can access the database', ...complaint)
    : warning('the data folder is open to other users of this machine', ...complaint);
}

/**
 * Checks the SQLite file: whether it is on a local file system, closed to other users of the machine, and has
 * room to grow. PostgreSQL manages its own files.
 */
export async function* checkFiles({ settings: { databaseFile } }: Examined): AsyncGenerator<CheckResult> {
  if (databaseFile === null) return;
  const dataDir = dirname(databaseFile);
  const [folder, file, disk] = await Promise.all([stat(dataDir), stat(databaseFile), statfs(dataDir)]);
  const free = disk.bavail * disk.bsize;
  yield sound(`${inGibibytes(free)} free, not accessible to other users`);
  yield* checkModes(folder.mode, file.mode);
  if (networkFileSystems.has(disk.type)) {
    yield problem(
      'the database is on a network file system',
      'SQLite loses commits there, or the whole file.',
      'Move the folder to a local disk, or the installation to PostgreSQL.',
    );
  }
  if (free < Math.max(gibibyte, file.size)) {
    yield (free < gibibyte / 4 ? problem : warning)(
      `${inGibibytes(free)} are free for a database of ${inGibibytes(file.size)}`,
      'When the disk is full nothing can be written; a backup on the same disk needs the same space again.',
      'Make room, or shorten {retentionDays}.',
    );
  }
}
