import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../support/commands.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { environment, start, temporaryFolder } from '../support/server.ts';

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);

afterAll(() => postgres?.remove(), 60_000);

/**
 * Returns an environment that reads its secrets from files, with data in a PostgreSQL database that one of
 * these files names.
 */
async function installed(database: string) {
  const folder = await temporaryFolder();
  const { OSTIARY_SEALING_KEYS: keys = '', ...rest } = await environment();
  const files = { OSTIARY_SEALING_KEYS_FILE: join(folder, 'keys'), DATABASE_URL_FILE: join(folder, 'url') };
  const url = await postgres.createDatabase(database);
  await writeFile(files.OSTIARY_SEALING_KEYS_FILE, `${keys}\n`);
  await writeFile(files.DATABASE_URL_FILE, `${url}\n`);
  const env: NodeJS.ProcessEnv = { ...rest, ...files };
  return { folder, keys, url, env };
}

// Covers two of the commands that open the installation as the server does, and the commands `doctor` and
// `backup`, which open the database themselves.
test('every way into the database takes its secrets from files: server, partners, doctor, backup, users', async () => {
  const { folder, env } = await installed('secret_files');
  const server = await start(env);
  await server.installation.ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  const listed = await command('partners list', ['--json'], env);
  expect([listed.code, listed.output]).toEqual([0, expect.stringContaining('"kafe"')]);
  const users = await command('users list', ['--json'], env);
  expect([users.code, users.errors]).toEqual([0, '']);
  const doctor = await command('doctor', ['--json'], env);
  expect(doctor.output).not.toMatch(/there is no database|The server does not start/);
  const file = join(folder, 'backup');
  const saved = await command('backup', ['--file', file], env);
  // pg_dump may be missing on this machine, but the database is found in any case.
  expect(saved.errors).not.toMatch(/sqlite|no installation found/);
  expect(saved.code === 0 ? existsSync(file) : /pg_dump/.test(saved.errors)).toBe(true);
  expect(existsSync(join(env.OSTIARY_DATA_DIR ?? '', 'ostiary.sqlite'))).toBe(false);
});

test('move writes to the database named in the file, and refuses a missing, empty or repeated setting', async () => {
  const { keys, url, env, folder } = await installed('secret_files_moved');
  const { OSTIARY_SEALING_KEYS_FILE: _keys, DATABASE_URL_FILE: file = '', ...rest } = env;
  const server = await start({ ...rest, OSTIARY_SEALING_KEYS: keys });
  await server.installation.ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  await server.close();
  const from = ['--from', join(rest.OSTIARY_DATA_DIR ?? '', 'ostiary.sqlite')];
  const refused = async (settings: Record<string, string>) => {
    const { code, errors } = await command('move', from, { NODE_ENV: 'test', ...settings });
    return [code, errors];
  };
  const [missing, empty] = [join(folder, 'none'), join(folder, 'empty')];
  await writeFile(empty, '\n');
  const because = (why: string) => [2, expect.stringContaining(why)];
  expect(await refused({ DATABASE_URL_FILE: missing })).toEqual(because('cannot be read (ENOENT)'));
  expect(await refused({ DATABASE_URL_FILE: empty })).toEqual(because('names a file that is empty'));
  expect(await refused({ DATABASE_URL_FILE: file, DATABASE_URL: url })).toEqual(because('are both set'));
  expect(await refused({})).toEqual(because('must begin with postgres://'));
  const moved = await command('move', [...from, '--json'], { NODE_ENV: 'test', DATABASE_URL_FILE: file });
  expect([moved.code, moved.errors]).toEqual([0, '']);
  const listed = await command('partners list', ['--json'], env);
  expect(listed.output).toContain('"kafe"');
  await rm(file);
});
