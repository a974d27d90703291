import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { run, start } from '../../../packages/create-ostiary/test/support/shell.ts';
import { freePort } from '../../support/free-port.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-image-'));
const source = join(folder, 'source');
const server = join(folder, 'server');
// The build with declarations takes some minutes.
const isEvery = process.env.TEST_EVERY_APP !== undefined;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the files of the repository, as the build context of the image has them. */
function copySource(): void {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')) {
    if (file === '' || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(source, file)), { recursive: true });
    cpSync(join(root, file), join(source, file));
  }
}

/** Finds the commands of the first stage, with `/server` in the test's folder. */
function buildCommands(): string[] {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').replaceAll('\\\n', '');
  const [, build = ''] = dockerfile.split(/^FROM /m).slice(0, 2);
  return Array.from(build.matchAll(/^RUN (.*)$/gm), ([, command = '']) =>
    command.replaceAll('/server', server),
  );
}

it.runIf(isEvery)(
  'the image has one Node, no tests, and at most 70 MB below /server',
  async () => {
    copySource();
    for (const command of buildCommands()) await run(source, command);
    expect(await run(server, 'find . -type d "(" -name test -o -name tests ")"')).toBe('');
    expect(await run(server, 'find . "(" -name "node@*" -o -path "*/bin/node" ")"')).toBe('');
    const [, size = ''] = /^(\d+)/.exec(await run(folder, `du -sm ${server}`)) ?? [];
    expect(Number(size)).toBeGreaterThan(20);
    expect(Number(size)).toBeLessThanOrEqual(70);

    const port = String(await freePort());
    const program = start(server, 'exec node src/main.ts', {
      PORT: port,
      NODE_ENV: 'production',
      OSTIARY_DATA_DIR: join(folder, 'data'),
      OSTIARY_AUTH_URL: 'https://id.example.com',
      OSTIARY_BASE_URL: 'https://api.example.com',
      OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
    });
    try {
      const status = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
      await expect.poll(status, { message: program.said() }).toBe(200);
    } finally {
      await program.stop();
    }
  },
  600_000,
);
