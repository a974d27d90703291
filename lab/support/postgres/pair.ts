import { execFile, execFileSync } from 'node:child_process';
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Pool } from 'pg';
import { freePort } from '../free-port.ts';
import { until } from '../proof.ts';
import { retry } from '../retry.ts';
import { killServer } from './crash.ts';
import { memoryInFolder, testPostgres } from './postgres.ts';
import { createDatabases, type ServerOptions, superusers } from './postgres-server.ts';
import { owner } from './system-postgres.ts';

const run = promisify(execFile);

/** One server of a pair of PostgreSQL servers. A server's successor gets the same port, but not the data. */
interface Server {
  readonly port: number;
  readonly data: string;
  readonly pool: Pool;
}

/**
 * Files that a base copy of PostgreSQL's data leaves out: files of the process, and the write-ahead log,
 * which the standby requests.
 */
const leftOut = ['postmaster.pid', 'postmaster.opts', 'pg_wal'];

/** Returns the connection URL of a database on the PostgreSQL servers with these ports. */
const urlOf = (database: string, ports: readonly number[], role = 'postgres'): string =>
  `postgres://${role}:${role}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database}`;

/**
 * Creates the data of a PostgreSQL server with its databases, and functions that start and stop servers on
 * these data or copies of them.
 */
async function foundation(flags: readonly string[]) {
  const first = await testPostgres();
  await createDatabases(first.url());
  const pool = superusers(first.url());
  const { rows } = await pool.query<{ folder: string }>(
    `SELECT setting AS folder FROM pg_config WHERE name = 'BINDIR'`,
  );
  await pool.end();
  // Stop the server here, because from now on it is started and stopped in another way.
  await first.stop();
  const control = async (data: string, ...args: readonly string[]): Promise<void> => {
    const program = join(rows[0]?.folder ?? '', 'pg_ctl');
    await run(program, ['--pgdata', data, '--wait', ...args], { ...owner(), cwd: first.folder });
  };
  return {
    ...{ port: first.port, folder: first.folder, remove: first.remove },
    async start(port: number, data: string): Promise<Server> {
      const own = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
      const options = [...own, ...flags].map((flag) => `-c ${flag}`).join(' ');
      await control(data, 'start', '--log', join(data, 'printed'), '--options', options);
      return { port, data, pool: superusers(urlOf('app', [port])) };
    },
    async stop({ data, pool }: Server, mode: 'fast' | 'immediate' = 'immediate'): Promise<void> {
      void pool.end();
      // The server may have been killed.
      await control(data, 'stop', `--mode=${mode}`).catch(() => undefined);
    },
  };
}

/**
 * Copies the data of a running primary server in the way that PostgreSQL's manual describes for copies
 * without `pg_basebackup`.
 */
async function copyOf(primary: Server, data: string): Promise<void> {
  const session = await primary.pool.connect();
  try {
    await session.query(`SELECT pg_backup_start('standby', true)`);
    await rm(data, { recursive: true, force: true });
    await mkdir(join(data, 'pg_wal'), { recursive: true, mode: 0o700 });
    const entries = (await readdir(primary.data)).filter((name) => !leftOut.includes(name));
    await run('cp', ['-Rp', ...entries.map((name) => join(primary.data, name)), data]);
    const { rows } = await session.query<{ label: string }>(
      'SELECT labelfile AS label FROM pg_backup_stop(false)',
    );
    await writeFile(join(data, 'backup_label'), rows[0]?.label ?? '');
  } finally {
    session.release(true);
  }
  await follow(data, primary.port);
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', data]);
}

/**
 * Configures the data folder of a PostgreSQL server as a standby. From its next start the standby follows the
 * primary on `port`.
 */
async function follow(data: string, port: number): Promise<void> {
  await writeFile(join(data, 'standby.signal'), '');
  const at = `host=127.0.0.1 port=${port} user=postgres password=postgres`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${at}'\n`);
}

/** Makes commits of the primary wait for the standby. Resolves once commits wait. */
async function waitForStandby({ pool }: Server): Promise<void> {
  await pool.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await pool.query('SELECT pg_reload_conf()');
  const isThere = await until(async () => {
    const { rows } = await pool.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`);
    return rows.length === 1;
  });
  if (!isThere) throw new Error('the standby does not follow');
}

/**
 * A primary PostgreSQL server and, after `addStandby`, its synchronous standby. The servers use two ports: a
 * new standby gets the port that the primary does not use.
 */
export type Pair = Awaited<ReturnType<typeof startPair>>;

/** Starts a primary PostgreSQL server, to which a standby can be added. */
export async function startPair({ fsync = true, settings = [] }: ServerOptions = {}) {
  const wanted = [
    memoryInFolder,
    `fsync=${fsync ? 'on' : 'off'}`,
    'max_connections=300',
    'wal_keep_size=1GB',
  ];
  const servers = await foundation([...wanted, ...settings]);
  const ports = [servers.port, await freePort()] as const;
  let copies = 0;
  let primary = await servers.start(ports[0], join(servers.folder, 'data'));
  let standby: Server | null = null;
  /** Data folder of the previous primary server. */
  let gone: string | null = null;
  const otherPort = () => (primary.port === ports[0] ? ports[1] : ports[0]);
  return {
    /** Pool of superuser connections to the current primary server. */
    get app() {
      return primary.pool;
    },
    /** Pool of superuser connections to the standby; `null` if there is no standby. */
    get standby() {
      return standby?.pool ?? null;
    },
    /**
     * Returns the URL with which the database's owner connects. The URL always leads to the primary server.
     */
    url: (at: readonly number[] = ports) => `${urlOf('app', at, 'ostiary')}?target_session_attrs=read-write`,
    primaryPort: () => primary.port,
    standbyPort: otherPort,
    /** Creates a standby, and makes commits wait for the standby from now on. */
    async addStandby(): Promise<void> {
      if (gone !== null) await rm(gone, { recursive: true, force: true });
      copies += 1;
      const data = join(servers.folder, `standby-${copies}`);
      // A file may disappear between two reads of a folder.
      await retry(() => copyOf(primary, data));
      standby = await servers.start(otherPort(), data);
      await waitForStandby(primary);
    },
    /** Cuts the standby off from the primary server. */
    async cut(): Promise<void> {
      const { rows } = await primary.pool.query<{ pid: number }>('SELECT pid FROM pg_stat_replication');
      for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
    },
    /** Kills the primary server, as a power failure does. */
    async kill(): Promise<void> {
      await killServer(primary.data);
      void primary.pool.end();
    },
    /** Promotes the standby to the primary server, which has no standby at first. */
    async promote(): Promise<void> {
      if (standby === null) throw new Error('there is no standby');
      await standby.pool.query('SELECT pg_promote()');
      gone = primary.data;
      [primary, standby] = [standby, null];
    },
    /**
     * Exchanges primary and standby, as an operator does for maintenance: the primary is stopped gracefully,
     * the standby is promoted, and the former primary returns as the standby.
     */
    async switchOver(): Promise<void> {
      if (standby === null) throw new Error('there is no standby');
      const old = primary;
      await servers.stop(old, 'fast');
      await standby.pool.query('SELECT pg_promote()');
      await follow(old.data, standby.port);
      [primary, standby] = [standby, await servers.start(old.port, old.data)];
    },
    async remove(): Promise<void> {
      for (const server of [primary, standby]) if (server !== null) await servers.stop(server);
      await servers.remove();
    },
  };
}
