import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Finds a program on this machine; `undefined` if the program is not installed. */
export const programOf = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

/** Runs a program. @returns the program's output without the last line break */
export async function run(
  program: string,
  args: readonly string[],
  cwd?: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 * 1024, cwd, env });
  return stdout.trimEnd();
}
