import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { programOf } from '../program.ts';
import { retry } from '../retry.ts';
import { owner } from './system-postgres.ts';

/**
 * Path of PgBouncer: that of the environment variable TEST_PGBOUNCER, to test another version, or that of the
 * Debian package `pgbouncer`; `undefined` if PgBouncer is not installed.
 */
export const pgbouncer = process.env.TEST_PGBOUNCER ?? programOf('pgbouncer');

/** Checks whether a PgBouncer knows the setting `max_prepared_statements`, as PgBouncer 1.21 and later do. */
export function preparesStatements(program: string): boolean {
  const [, major, minor] =
    /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/** Configuration that operators start with. Tests replace the database, the address and the users. */
const deployed = readFileSync(new URL('../../../deploy/pgbouncer.ini', import.meta.url), 'utf8');

/**
 * Returns the text of a configuration in which each setting is replaced, uncommented, or added at the end of
 * the configuration.
 */
function withSettings(ini: string, settings: Readonly<Record<string, string | number>>): string {
  let text = ini;
  for (const [name, value] of Object.entries(settings)) {
    const line = `${name} = ${value}`;
    const pattern = new RegExp(`^;?${name} = .*$`, 'm');
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
 * @param settings - settings that differ from `deploy/pgbouncer.ini`
 * @param parameters - parameters of the URLs with which clients connect, such as `?sslmode=verify-full`
 */
export async function startPgBouncer(
  program: string,
  serverPort: number,
  settings: Readonly<Record<string, string | number>> = {},
  parameters = '',
) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-pgbouncer-'));
  // PgBouncer refuses to run as root. The other user must be able to read its files.
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  // PgBouncer before 1.21 does not start with the line, as the comment in the file says.
  const known = preparesStatements(program)
    ? deployed
    : deployed.replace(/^max_prepared_statements = .*$/m, '');
  const write = (toPort: number) =>
    writeFile(
      file,
      withSettings(known.replace(/^ostiary = .*$/m, `app = host=127.0.0.1 port=${toPort} dbname=app`), {
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
  const url = (database: string) => `postgres://ostiary:ostiary@127.0.0.1:${port}/${database}${parameters}`;
  /** Sends a command to the console of PgBouncer. @returns the rows of the response */
  async function command(text: string): Promise<readonly unknown[]> {
    const client = new Client({ connectionString: url('pgbouncer') });
    await client.connect();
    // The console only supports simple queries.
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  }
  async function start() {
    const child = spawn(program, [file], { ...owner(), cwd: folder, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await retry(() => command('SHOW VERSION'));
    return async (signal: 'SIGTERM' | 'SIGKILL') => {
      child.kill(signal);
      await ended;
    };
  }
  let end = await start();
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
    /** Kills PgBouncer with SIGKILL. */
    kill: () => end('SIGKILL'),
    /** Starts PgBouncer again after {@link kill}, on the same port. Resolves when it responds. */
    async restart(): Promise<void> {
      end = await start();
    },
    async stop(): Promise<void> {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
