import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { newFolderOnDisk } from '../../support/on-disk.ts';

const here = import.meta.dirname;
const root = resolve(here, '../../..');
const programs = join(here, 'node_modules');
const execute = promisify(execFile);

const deno = [
  'run',
  '--no-remote',
  '--node-modules-dir=manual',
  '--no-prompt',
  '--allow-env',
  '--allow-read',
];

/** JavaScript runtimes from npm, by the command that runs a file. */
export const runtimes: Readonly<Record<string, readonly string[]>> = {
  'Node 18': [join(programs, 'node18/bin/node')],
  'Node 20': [join(programs, 'node20/bin/node')],
  'Node 22': [join(programs, 'node22/bin/node')],
  'Node 24': [process.execPath],
  Bun: [join(programs, '.bin/bun')],
  Deno: [join(programs, '.bin/deno'), ...deno, '--allow-write', '--allow-net=127.0.0.1,localhost'],
};

/**
 * JavaScript runtimes in which CommonJS programs are run. Among them is Node 18, which cannot load ES modules
 * with `require`.
 */
const withRequire = ['Node 18', 'Node 20', 'Node 22', 'Bun'];

/** A package as it is published, installed in a new folder with programs beside it. */
export interface Installed {
  readonly folder: string;
  /** Runs a program in a JavaScript runtime. @returns the program's output, which is JSON */
  run(runtime: string, file: string, args?: readonly string[], flags?: readonly string[]): Promise<unknown>;
  /**
   * Writes a CommonJS program, and runs it in the JavaScript runtimes of {@link withRequire}. @returns the
   * output of each run
   */
  required(lines: readonly string[]): Promise<unknown[]>;
  remove(): Promise<void>;
}

/**
 * Builds a package and installs it in a new folder.
 * @param files - files that are published in addition to the built ones
 * @param entries - programs of `entries/` that are put beside the package as plain JavaScript
 */
export async function install(
  name: string,
  files: readonly string[],
  entries: readonly string[],
): Promise<Installed> {
  const folder = newFolderOnDisk('runtimes');
  const source = join(root, 'packages', name);
  const target = join(folder, 'node_modules/@ostiary', name);
  await mkdir(target, { recursive: true });
  for (const file of files) await cp(join(source, file), join(target, file));
  const manifest = { type: 'module', dependencies: { [`@ostiary/${name}`]: '*' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const tsup = join(root, 'node_modules/.bin/tsup');
  await execute(tsup, ['--no-dts', '--out-dir', join(target, 'dist')], { cwd: source });
  await build({
    entryPoints: entries.map((entry) => join(here, 'entries', `${entry}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    external: ['@ostiary/*', 'node:*'],
    target: 'node18',
  });
  // Environment of a user outside of this repository: no options and no conditions.
  const env = { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
  const installed: Installed = {
    folder,
    async run(runtime, file, args = [], flags = []) {
      const [command = '', ...own] = runtimes[runtime] ?? [];
      const all = [...own, ...flags, file, ...args];
      const { stdout } = await execute(command, all, { cwd: folder, env, timeout: 60_000 });
      return JSON.parse(stdout);
    },
    async required(lines) {
      await writeFile(join(folder, 'common.cjs'), lines.join('\n'));
      return Promise.all(withRequire.map((runtime) => installed.run(runtime, 'common.cjs')));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  return installed;
}
