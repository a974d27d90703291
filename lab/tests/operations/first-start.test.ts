import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { newFolderOnDisk } from '../../support/on-disk.ts';

const root = resolve(import.meta.dirname, '../../..');
const clone = newFolderOnDisk('first-start');
let started: ChildProcess | undefined;

afterAll(async () => {
  if (started?.pid !== undefined && started.exitCode === null) {
    const ended = once(started, 'close');
    // SIGINT to the process group, as Ctrl+C in a terminal sends it.
    process.kill(-started.pid, 'SIGINT');
    await ended;
  }
  rmSync(clone, { recursive: true, force: true });
});

/**
 * Copies the files that git would clone, without `node_modules` and built files.
 */
function copySources(): void {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')) {
    if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
  }
}

it('npm start in a fresh clone installs what it needs, no more, and says where to go', async () => {
  copySources();
  const [port = 0, partnerPort = 0] = await freePorts(2);
  const env = { ...process.env, NODE_ENV: '', PORT: String(port), PARTNER_PORT: String(partnerPort) };
  started = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let screen = '';
  for (const stream of [started.stdout, started.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
    });
  }
  const ended = once(started, 'exit').then(() => Promise.reject(new Error(`npm start ended:\n${screen}`)));
  const told = expect.poll(() => screen, { timeout: 80_000 }).toContain('Ctrl+C stops both');
  await Promise.race([told, ended]);

  expect(screen.split('\n').length, screen).toBeLessThan(30);
  for (const [name, url] of Object.entries({
    shop: `http://localhost:${partnerPort}/`,
    console: `http://localhost:${port}/sandbox`,
  })) {
    expect(screen).toContain(url.replace(/\/$/, ''));
    expect((await fetch(url)).status, name).toBe(200);
  }
  const megabytes = Number(
    execFileSync('du', ['-sm', join(clone, 'node_modules')], { encoding: 'utf8' }).split('\t')[0],
  );
  expect(megabytes).toBeLessThan(300);
});
