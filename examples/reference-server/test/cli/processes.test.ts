import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { command, commandProcess, running } from '../support/commands.ts';
import { run } from '../support/processes.ts';
import { anaika, environment, temporaryFolder } from '../support/server.ts';

/** Starts a server with a partner that gets sandbox events. */
async function withPartner() {
  const { env, server, origin } = await running();
  const { admin } = server.installation.ostiary;
  await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  const { key } = await admin.apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['webhooks'] });
  const publish = async (message: string) => {
    const answer = await fetch(new URL('/v1/partner/sandbox/events', origin), {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ type: 'webhook.test', data: { message } }),
    });
    expect(answer.status).toBe(201);
  };
  return { env, publish };
}

describe('in a process of its own', () => {
  test('the database is backed up while the server runs, and the copy works as an installation', async () => {
    const { env, server } = await running();
    await server.installation.accounts.create(anaika);
    const folder = await temporaryFolder();
    const file = join(folder, 'ostiary.sqlite');
    const saved = await commandProcess('backup', ['--file', file, '--json'], env);
    expect(saved).toMatchObject({ code: 0, errors: '' });
    expect(saved.json().tables).toMatchObject({ app_users: 1, signing_keys: 2 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const restored = { ...env, OSTIARY_DATA_DIR: folder };
    const users = await command('users list', ['--json'], restored);
    expect(users.json().users).toMatchObject([{ handle: 'anaika' }]);
  });

  test('a backup that is interrupted leaves neither a file nor pg_dump behind', async () => {
    const [folder, bin] = [await temporaryFolder(), await temporaryFolder()];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for the shell.
    const dump = 'echo $$ > "${2#--file=}"; exec sleep 60';
    await writeFile(join(bin, 'pg_dump'), `#!/bin/sh\n${dump}\n`, { mode: 0o755 });
    const PATH = `${bin}:${process.env.PATH}`;
    const env = await environment({ DATABASE_URL: 'postgres://a@127.0.0.1:1/a', TMPDIR: folder, PATH });
    const backup = run('cli/main.ts', ['backup', '--file', join(folder, 'saved')], env);
    const textOf = async (name = '') => readFile(join(folder, name), 'utf8').catch(() => '');
    const unfinished = async () => (await readdir(folder)).find((name) => name.endsWith('.unfinished'));
    const pid = await vi.waitUntil(async () => Number(await textOf(await unfinished())), { timeout: 20_000 });
    backup.child.kill('SIGTERM');
    await backup.ended;
    expect(await readdir(folder)).toEqual([]);
    const isGone = () => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    };
    await vi.waitUntil(isGone, { timeout: 5_000 });
  });

  test('tail shows what happens in the server, and ends with SIGINT', async () => {
    const { env, publish } = await withPartner();
    const tail = run('cli/main.ts', ['tail', 'kafe', '--mode', 'test', '--json'], env);
    await publish('one');
    await tail.until('"message":"one"');
    await publish('two');
    await tail.until('"message":"two"');
    tail.child.kill('SIGINT');
    expect([await tail.ended, tail.errors()]).toEqual([0, '']);
  });

  test('tail ends when its output is closed', async () => {
    const { env, publish } = await withPartner();
    await publish('one');
    const tail = run('cli/main.ts', ['tail', 'kafe', '--mode', 'test', '--interval', '0'], env);
    await tail.until('webhook.test');
    tail.child.stdout.destroy();
    await publish('two');
    expect([await tail.ended, tail.errors()]).toEqual([0, '']);
  });

  test('a command ends with the exit code of its answer', async () => {
    const { env } = await running();
    const ended = await commandProcess('clients show', ['nobody', '--json'], env);
    expect([ended.code, ended.output]).toEqual([3, '']);
    expect(ended.errors).toMatch(
      /^{"error":{"code":"client_not_found","message":"there is no client nobody",/,
    );
  });
});

test.each([
  ['--version', 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [
    'keys issue --json',
    2,
    /^$/,
    /^{"error":{"code":"usage","message":"<partner> is missing; --mode is missing/,
  ],
])('%s ends with %s', async (line, code, output, errors) => {
  const { env } = await running();
  const ended = await command(line, [], env);
  expect(ended.code).toBe(code);
  expect(ended.output).toMatch(output);
  expect(ended.errors).toMatch(errors);
});
