import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cache } from './generated.ts';

const run = promisify(execFile);

/** The version that was tried. */
const version = '0.29.1';

/** Its folder of programs, or why there is none. */
export type Installed = { readonly bin: string } | { readonly missing: string };

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
  return (stderr ?? message).trim().split('\n').at(-1) ?? message;
}

/**
 * Installs openapi-python-client once, in a place of its own below `node_modules/.cache`. Where there is no Python, or
 * the package cannot be fetched, it says so.
 */
export async function pythonClient(): Promise<Installed> {
  const home = join(cache, `openapi-python-client-${version}`);
  const bin = join(home, 'bin');
  if (existsSync(join(bin, 'openapi-python-client'))) return { bin };
  const python = process.env.TEST_PYTHON ?? 'python3';
  mkdirSync(cache, { recursive: true });
  // A virtual environment cannot be moved: it is made where it stays, and half of one is made anew.
  rmSync(home, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', home]);
    await run(join(bin, 'pip'), ['install', '--quiet', `openapi-python-client==${version}`], {
      timeout: 80_000,
    });
    return { bin };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    return {
      missing: `openapi-python-client ${version} cannot be installed with ${python}: ${reasonOf(error)}`,
    };
  }
}

/** Runs a program of the place. @returns what it wrote */
export async function inPlace(
  bin: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  // It looks for its formatter in the path.
  const path = [bin, process.env.PATH ?? ''].join(delimiter);
  const { stdout, stderr } = await run(join(bin, program), args, {
    env: { ...process.env, PATH: path, ...env },
  });
  return stdout + stderr;
}
