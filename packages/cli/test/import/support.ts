import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProvider } from '../../../core/test/support/running.ts';
import { runCommandLine } from '../../src/index.ts';

export const folder = await mkdtemp(join(tmpdir(), 'import-'));
// Remove the folder when the process exits: several test files may share this module.
process.once('exit', () => rmSync(folder, { recursive: true }));

let files = 0;
/** Writes a file with the given content and returns its path. By default, the files are numbered. */
export async function written(content: unknown, name?: string): Promise<string> {
  files += 1;
  const file = join(folder, name ?? `${files}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Starts a provider, and returns a function that runs the command `import` on it. */
export async function installation(options: Parameters<typeof startProvider>[0] = {}) {
  const provider = await startProvider(options);
  const { ostiary } = provider;
  const run = async (from: string, content: unknown, ...flags: string[]) => {
    let [out, err] = ['', ''];
    const code = await runCommandLine({
      open: async () => ({ admin: ostiary.admin, close: async () => undefined }),
      argv: ['import', '--from', from, '--file', await written(content), ...flags],
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
    });
    return { code, out, err };
  };
  return { provider, ostiary, run };
}
