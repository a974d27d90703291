import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onExit } from 'signal-exit';
import type { ProgressStep } from '../command.ts';
import { sslModeOf, writeAuthorities } from './tls.ts';

/** Environment variables of libpq for the parameters of a PostgreSQL URL. */
const variables: { readonly [parameter: string]: string } = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
};

/**
 * Splits a URL with several hosts (a primary and its standbys) into one URL per host, because `URL` cannot
 * parse a list of hosts.
 */
function eachHost(url: string): readonly URL[] {
  const [, before = '', list = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return list.split(',').map((host) => new URL(`${before}${host}${after}`));
}

/**
 * Environment with which `pg_dump` and `pg_restore` connect to the database, with the same TLS as the
 * servers. Arguments would show the password to every user of the machine.
 * @param environmentMode - `PGSSLMODE` of this process
 */
export function environmentOf(url: string, environmentMode?: string): Record<string, string> {
  const hosts = eachHost(url);
  const { username, password, pathname, searchParams } = hosts[0] ?? new URL(url);
  const given = {
    host: hosts.map(({ hostname }) => hostname.replace(/^\[|\]$/g, '')).join(','),
    port: hosts.some(({ port }) => port !== '') ? hosts.map(({ port }) => port).join(',') : '',
    // Dump from the primary: a standby may be behind.
    ...(hosts.length > 1 && { target_session_attrs: 'read-write' }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    dbname: decodeURIComponent(pathname.slice(1)),
    ...Object.fromEntries(searchParams),
    sslmode: sslModeOf(searchParams, environmentMode) ?? '',
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const variable = variables[name];
      return variable === undefined || value === '' ? [] : [[variable, value]];
    }),
  );
}

/**
 * Runs a program of PostgreSQL. @returns its output. @throws Error with the program's error output if it
 * fails, or if it is not installed
 */
async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const done = onExit(() => void child.kill());
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close')
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error(
        `${program} is not on this machine: install the client programs of PostgreSQL, of the version of the server or a later one`,
      );
    })
    .finally(done);
  const [output, errors] = await said;
  if (code !== 0)
    throw new Error(`${program} failed: ${errors.trim() === '' ? `exit code ${code}` : errors.trim()}`);
  return output;
}

/**
 * Saves a PostgreSQL database with `pg_dump`, and checks that `pg_restore` can list the tables in the dump.
 * @returns names of the saved tables, with their schema
 */
export async function backupPostgres(
  url: string,
  file: string,
  onProgress: (step: ProgressStep) => void,
): Promise<readonly string[]> {
  const watching = setInterval(() => {
    stat(file).then(
      ({ size }) => onProgress({ step: 'saving', done: size, of: null, unit: 'bytes' }),
      () => undefined,
    );
  }, 500);
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-backup-'));
  const done = onExit(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const environment = environmentOf(url, process.env.PGSSLMODE);
    const needsAuthorities =
      environment.PGSSLMODE === 'verify-full' &&
      (environment.PGSSLROOTCERT ?? process.env.PGSSLROOTCERT) === undefined;
    const authorities = needsAuthorities ? { PGSSLROOTCERT: await writeAuthorities(folder) } : {};
    const env = { ...environment, ...authorities };
    await run('pg_dump', ['--format=custom', `--file=${file}`, '--no-password'], env);
    const contents = await run('pg_restore', ['--list', file], {});
    const tables = Array.from(
      contents.matchAll(/^\d+; \d+ \d+ TABLE DATA (\S+) (\S+) /gm),
      ([, schema, table]) => `${schema}.${table}`,
    );
    if (tables.length === 0) throw new Error('there are no tables in what pg_dump has written');
    return tables;
  } finally {
    clearInterval(watching);
    await rm(folder, { recursive: true, force: true });
    done();
  }
}
