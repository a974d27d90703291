import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Pool } from 'pg';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';

/** `pg_dump` and `pg_restore` of this machine. What comes from npm is a server without them. */
export interface DumpTools {
  readonly folder: string;
  /** It reads servers up to this version. */
  readonly major: number;
  /** Whether a server of the same version lies beside them. */
  readonly hasServer: boolean;
}

/** Where Debian keeps versions beside each other; what is in the path there is a script. */
const debianFolder = '/usr/lib/postgresql';

/** The newest ones, or `null` where there are none. */
export function findDumpTools(): DumpTools | null {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  const folders = [
    ...versions.map((version) => join(debianFolder, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders
    .filter((folder) => ['pg_dump', 'pg_restore'].every((tool) => existsSync(join(folder, tool))))
    .map((folder): DumpTools => {
      const said = execFileSync(join(folder, 'pg_dump'), ['--version'], { encoding: 'utf8' });
      return {
        folder: realpathSync(folder),
        major: Number(/ (\d+)/.exec(said)?.[1]),
        hasServer: ['initdb', 'pg_ctl', 'postgres'].every((tool) => existsSync(join(folder, tool))),
      };
    });
  return found.toSorted((a, b) => b.major - a.major || Number(b.hasServer) - Number(a.hasServer))[0] ?? null;
}

/** A server with two empty databases. */
export interface SystemServer {
  url(database: 'app' | 'rail'): string;
  remove(): Promise<void>;
}

/** The user that PostgreSQL runs as instead of root, which it refuses. */
function owner(): { readonly uid: number; readonly gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts the server that lies beside the tools. */
export async function startSystemServer({ folder }: DumpTools): Promise<SystemServer> {
  const [port = 0] = await freePorts(1);
  const root = mkdtempSync(join(tmpdir(), 'ostiary-system-postgres-'));
  const user = owner();
  if ('uid' in user) execFileSync('chown', [`${user.uid}:${user.gid}`, root]);
  chmodSync(root, 0o700);
  const data = join(root, 'data');
  const run = (tool: string, args: readonly string[]): void => {
    execFileSync(join(folder, tool), [...args], { ...user, cwd: root, stdio: 'ignore' });
  };
  const ctl = (args: readonly string[]): void => run('pg_ctl', ['--pgdata', data, '--wait', ...args]);
  run('initdb', [
    '--pgdata',
    data,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]);
  const flags = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  ctl(['start', '--log', join(root, 'log'), '--options', flags]);
  const url = (database: string): string => `postgres://ostiary@127.0.0.1:${port}/${database}`;
  const pool = new Pool({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`, max: 1 });
  await pool.query('CREATE ROLE ostiary LOGIN');
  for (const database of ['app', 'rail']) await pool.query(`CREATE DATABASE ${database} OWNER ostiary`);
  await pool.end();
  return {
    url,
    async remove() {
      ctl(['stop', '--mode=fast']);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
