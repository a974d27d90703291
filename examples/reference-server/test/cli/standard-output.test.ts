import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { environment } from '../support/server.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** Runs a command with a separate standard output. */
async function spawned(args: readonly string[], stdout: 'pipe' | number) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--conditions=ostiary-source', main, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...(await environment()) },
    stdio: ['ignore', stdout, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, errors: text(child.stderr ?? Readable.from([])) };
}

describe('the standard output of a command', () => {
  test('may be a pipe that its reader closes early, like head', async () => {
    const { child, errors } = await spawned(['--help'], 'pipe');
    child.stdout?.destroy();
    const [code] = await once(child, 'close');
    expect([code, await errors]).toEqual([0, '']);
  });

  test.skipIf(!existsSync('/dev/full'))('on a full disk makes the command fail, in one line', async () => {
    const full = openSync('/dev/full', 'w');
    const { child, errors } = await spawned(['partners', 'create', 'kafe', '--name', 'Kafe'], full);
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(await errors).toBe('standard output could not be written (ENOSPC); the command was run\n');
  });
});
