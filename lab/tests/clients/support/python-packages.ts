import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cache } from './generated.ts';

const run = promisify(execFile);

/** A package from PyPI, with the version that is tested. */
interface PythonPackage {
  readonly name: string;
  readonly version: string;
}

export const openapiPythonClient: PythonPackage = {
  name: 'openapi-python-client',
  version: '0.29.1',
};

export const schemathesis: PythonPackage = { name: 'schemathesis', version: '4.32.5' };

export const httpxOAuth: PythonPackage = { name: 'httpx-oauth', version: '0.17.0' };

export const mcp: PythonPackage = { name: 'mcp', version: '2.3.0' };

export const standardWebhooks: PythonPackage = { name: 'standardwebhooks', version: '1.1.0' };

export const svix: PythonPackage = { name: 'svix', version: '2.9.0' };

/** Folder of the Python package's programs, or the reason why the programs are missing. */
export type Installed = { readonly bin: string } | { readonly missing: string };

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
  return (stderr ?? message).trim().split('\n').at(-1) ?? message;
}

/**
 * Returns the pip of one environment that installs into all other environments, because an environment with
 * its own pip takes several seconds more. Test files run in parallel, so each creates an environment aside,
 * and the first to finish supplies the environment for all.
 */
async function pip(python: string): Promise<readonly [program: string, ...args: string[]]> {
  const home = join(cache, 'python-pip');
  if (!existsSync(home)) {
    const aside = mkdtempSync(join(cache, 'python-pip-'));
    await run(python, ['-m', 'venv', aside]);
    try {
      renameSync(aside, home);
    } catch {
      rmSync(aside, { recursive: true, force: true });
    }
  }
  // The scripts of a renamed environment do not work, but its Python does.
  return [join(home, 'bin/python'), '-m', 'pip'];
}

/**
 * Installs a Python package once, in a separate virtual environment below `node_modules/.cache`. Returns the
 * reason if Python is missing, or if the package cannot be fetched.
 */
export async function installed({ name, version }: PythonPackage): Promise<Installed> {
  const home = join(cache, `${name}-${version}`);
  const bin = join(home, 'bin');
  const complete = join(home, 'complete');
  if (existsSync(complete)) return { bin };
  const python = process.env.TEST_PYTHON ?? 'python3';
  mkdirSync(cache, { recursive: true });
  // Create the environment in its final place, because it cannot be moved. An incomplete one is created anew.
  rmSync(home, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', '--without-pip', home]);
    const [program, ...args] = await pip(python);
    const install = ['--python', join(bin, 'python'), 'install', '--quiet', `${name}==${version}`];
    await run(program, [...args, ...install], { timeout: 80_000 });
    writeFileSync(complete, '');
    return { bin };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    return { missing: `${name} ${version} cannot be installed with ${python}: ${reasonOf(error)}` };
  }
}

/**
 * Runs a program of the Python package. @returns the program's output @throws an error with `stdout` if the
 * program fails
 */
export async function inPlace(
  bin: string,
  program: string,
  args: readonly string[],
  { env = {}, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<string> {
  // Programs call others of their environment, so its folder is in the path.
  const path = [bin, process.env.PATH ?? ''].join(delimiter);
  const { stdout, stderr } = await run(join(bin, program), args, {
    env: { ...process.env, PATH: path, ...env },
    cwd,
  });
  return stdout + stderr;
}
