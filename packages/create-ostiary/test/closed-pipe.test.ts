import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const main = join(import.meta.dirname, '../src/main.ts');

test('create-ostiary continues if the reader of its output ends first, like head', async () => {
  const child = spawn(process.execPath, ['--conditions=ostiary-source', main, '--help']);
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.destroy();
  const errors = text(child.stderr);
  const [code] = await once(child, 'close');
  expect([code, await errors]).toEqual([0, '']);
});
