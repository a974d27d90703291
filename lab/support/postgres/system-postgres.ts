import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { createDatabases } from './postgres-server.ts';

/**
 * Folder with Debian's installed versions of PostgreSQL. The programs in the PATH are only wrapper scripts.
 */
const debianFolder = '/usr/lib/postgresql';
/** Programs of Debian's PostgreSQL, because the server from npm has no `pg_dump` and `pg_restore`. */
const programs = ['pg_dump', 'pg_restore', 'initdb', 'pg_ctl', 'postgres'];

/**
 * Returns the folder of this machine's PostgreSQL programs, which include `pg_dump`; `null` if PostgreSQL is
 * not installed.
 */
export function findPostgres(): string | null {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...newestFirst.map((version) => join(debianFolder, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const isWhole = (folder: string) => programs.every((program) => existsSync(join(folder, program)));
  return folders.find(isWhole) ?? null;
}

/**
 * Returns the user that runs PostgreSQL instead of root, because PostgreSQL refuses to run as root; an empty
 * object if this process does not run as root.
 */
export function owner(): { readonly uid: number; readonly gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Starts a PostgreSQL server with new data and two empty databases. @param folder - folder of PostgreSQL's
 * programs, see {@link findPostgres}
 */
export async function startSystemServer(folder: string) {
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
    // No fsync: the data need not survive a crash of the machine.
    '--no-sync',
  ]);
  const flags = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  ctl(['start', '--log', join(root, 'log'), '--options', flags]);
  const url = (database: 'app' | 'rail'): string => `postgres://ostiary@127.0.0.1:${port}/${database}`;
  await createDatabases(`postgres://postgres@127.0.0.1:${port}/postgres`);
  return {
    url,
    async remove() {
      ctl(['stop', '--mode=fast']);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
