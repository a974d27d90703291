import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { retry } from '../retry.ts';
import { owner } from './system-postgres.ts';

/**
 * Path of PgBouncer on this machine (Debian package `pgbouncer`); `undefined` if PgBouncer is not installed.
 */
export const pgbouncer = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file));

/** Configuration that operators start with. Tests replace the database, the address and the users. */
const deployed = readFileSync(new URL('../../../deploy/pgbouncer.ini', import.meta.url), 'utf8');

/** Returns the text of a configuration in which each setting is replaced, or added at its end. */
function withSettings(ini: string, settings: Readonly<Record<string, string | number>>): string {
  let text = ini;
  for (const [name, value] of Object.entries(settings)) {
    const line = `${name} = ${value}`;
    const pattern = new RegExp(`^${name} = .*$`, 'm');
    text = pattern.test(text) ? text.replace(pattern, line) : `${text}${line}\n`;
  }
  return text;
}

/** PgBouncer (a connection pooler) in front of the database `app` of a server on this machine. */
export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/**
 * Starts a real PgBouncer in transaction mode.
 *
 * @param program - path of the program, see {@link pgbouncer}
 * @param serverPort - port of the PostgreSQL server to which it first leads
 */
export async function startPgBouncer(
  program: string,
  serverPort: number,
  settings: Readonly<Record<string, string | number>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-pgbouncer-'));
  // PgBouncer refuses to run as root. The other user must be able to read its files.
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const write = (toPort: number) =>
    writeFile(
      file,
      withSettings(deployed.replace(/^ostiary = .*$/m, `app = host=127.0.0.1 port=${toPort} dbname=app`), {
        listen_addr: '127.0.0.1',
        listen_port: port,
        unix_socket_dir: '',
        auth_type: 'plain',
        auth_file: join(folder, 'users'),
        admin_users: 'ostiary',
        ...settings,
      }),
    );
  await writeFile(join(folder, 'users'), '"ostiary" "ostiary"\n');
  await write(serverPort);
  const child = spawn(program, [file], { ...owner(), cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = (database: string) => `postgres://ostiary:ostiary@127.0.0.1:${port}/${database}`;
  /** Sends a command to the console of PgBouncer. */
  async function command(text: string): Promise<void> {
    const client = new Client({ connectionString: url('pgbouncer') });
    await client.connect();
    // The console only supports simple queries.
    await client.query(text);
    await client.end();
  }
  await retry(() => command('SHOW VERSION'));
  return {
    port,
    /** URL through PgBouncer with which the database's owner connects. */
    url: url('app'),
    command,
    /**
     * Directs new connections of PgBouncer to another PostgreSQL server, as an operator does after a
     * promotion.
     */
    async pointTo(toPort: number): Promise<void> {
      await write(toPort);
      await command('RELOAD');
    },
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
