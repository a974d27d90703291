import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { createLogger } from '../src/http/logging.ts';
import { loadConfig, startReferenceServer } from '../src/index.ts';
import { run } from './support/processes.ts';
import { environment } from './support/server.ts';
import { halfSent, talk } from './support/sockets.ts';

const main = join(import.meta.dirname, '../src/main.ts');

async function started() {
  const env = await environment();
  const program = run('main.ts', [], env);
  await program.until('listening');
  return { program, port: Number(env.PORT), file: join(env.OSTIARY_DATA_DIR ?? '', 'ostiary.sqlite') };
}

describe('the server process', () => {
  test('finishes running requests after SIGTERM, accepts no new ones, and exits with 0', async () => {
    const { program, port, file } = await started();
    // Only the owner may read the files.
    expect((await stat(file)).mode & 0o077).toBe(0);
    const idle = await talk(port);
    const busy = await halfSent(port);
    program.child.kill('SIGTERM');
    await program.until('closing');
    await once(idle, 'close');
    await expect(talk(port)).rejects.toThrow('ECONNREFUSED');
    busy.write('handle=a');
    expect(await text(busy)).toMatch(/HTTP\/1\.1 403 [\s\S]*connection: close[\s\S]*<\/html>/i);
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('"msg":"closed"');
    // The last connection to close merges the write-ahead log into the database.
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test('finishes running requests when its terminal is closed, which can cause two signals', async () => {
    const { program, port } = await started();
    const busy = await halfSent(port);
    program.child.kill('SIGHUP');
    await program.until('closing');
    program.child.kill('SIGHUP');
    busy.write('handle=a');
    expect(await text(busy)).toMatch(/HTTP\/1\.1 403 [\s\S]*<\/html>/i);
    expect(await program.ended).toBe(0);
  });

  test.skipIf(!existsSync('/dev/full'))('goes on while its log has no room on the disk', async () => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = await environment();
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['--conditions=ostiary-source', main], {
      env: { PATH, NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', full, full],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    const healthy = () => fetch(`http://127.0.0.1:${env.PORT}/healthz`).then(({ status }) => status);
    await expect.poll(() => healthy().catch(() => child.exitCode), { timeout: 20_000 }).not.toBeNull();
    // Each request makes a log line that cannot be written.
    for (let request = 0; request < 3; request += 1) expect(await healthy()).toBe(200);
    await fetch(`http://127.0.0.1:${env.PORT}/nothing`);
    expect(await healthy()).toBe(200);
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  });

  test('ends at once on the second signal', async () => {
    const { program, port } = await started();
    await halfSent(port);
    program.child.kill('SIGINT');
    await program.until('closing');
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(1);
    expect(program.output()).not.toContain('"msg":"closed"');
  });

  test.each([
    ['with an unknown setting', { OSTIARY_COLOR: 'x' }, 'OSTIARY_COLOR is not a setting'],
    [
      'with a folder that cannot be',
      { OSTIARY_DATA_DIR: '/dev/null/x' },
      'OSTIARY_DATA_DIR cannot be created',
    ],
    ['as several processes on SQLite', { OSTIARY_PROCESSES: '2' }, 'SQLite has one writer'],
    [
      'with an authority in a file that is not there',
      { DATABASE_URL: 'postgres://a@db.invalid/a?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' },
      'DATABASE_URL: sslrootcert names the file /nowhere/ca.pem, which is not there',
    ],
    ['on an address of others', { HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is no address of this machine'],
  ])('refuses to start %s, in one line', async (_, changes, message) => {
    const { code, errors } = await runHere(main, [], await environment(changes));
    expect(code).toBe(1);
    expect(errors).toMatch(/^ostiary: .*\n$/);
    expect(errors).toContain(message);
  });

  test('refuses to start with another sealing key, or on a port that is taken, in one line', async () => {
    const env = await environment();
    await (await startReferenceServer(loadConfig(env), { logger: createLogger('silent') })).close();
    const key = Buffer.alloc(32).toString('base64url');
    const { code, errors } = await runHere(main, [], { ...env, OSTIARY_SEALING_KEYS: key });
    expect([code, errors]).toEqual([1, expect.stringMatching(/^ostiary: .*\n$/)]);

    const other = createServer().listen(Number(env.PORT), '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    expect(await runHere(main, [], env)).toMatchObject({
      code: 1,
      errors: `ostiary: port ${env.PORT} is taken; set PORT to a free one, or stop the other program\n`,
    });
  });
});
