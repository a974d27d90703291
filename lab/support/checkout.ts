import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { run } from './program.ts';

const root = resolve(import.meta.dirname, '../..');

/** Copies the files of the working tree that git knows or would add. */
export async function copyCheckout(to: string): Promise<void> {
  await mkdir(to);
  const copy = 'git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=- ';
  const script = `${copy} --ignore-failed-read | tar --extract --directory="$1"`;
  await run('sh', ['-c', script, 'sh', to], root);
}
