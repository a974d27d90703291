import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { sharedFolder } from '../shared-folder.ts';

const root = resolve(import.meta.dirname, '../../..');
const execute = promisify(execFile);

/** Packages of this repository that an app may need, and the program that creates apps. */
const forApps = [
  'adapter-postgres',
  'adapter-sqlite',
  'core',
  'create-ostiary',
  'testing',
  'webhook-verifier',
];

/** Files of a package that its build and its tarball need. */
const parts = [
  'package.json',
  'src',
  'languages',
  'sql',
  'templates',
  'verifiers',
  'tsup.config.ts',
  'README.md',
  'LICENSE',
];

/**
 * Builds a package in a copy, because other tests build the originals, and packs it.
 * @param isDeclared - true if the package is built with declarations, which take most of the time
 * @returns the path of the tarball
 */
async function tarballOf(parent: string, name: string, isDeclared: boolean): Promise<string> {
  const tarball = `${name === 'create-ostiary' ? name : `ostiary-${name}`}.tgz`;
  const { TEST_PACKED } = process.env;
  if (TEST_PACKED !== undefined) return resolve(root, TEST_PACKED, tarball);
  await mkdir(parent, { recursive: true });
  const shared = await sharedFolder(parent, `${name}${isDeclared ? '-declared' : ''}`, async (folder) => {
    const copy = join(folder, 'workspace');
    for (const part of ['package.json', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'tsconfig.json', 'scripts'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const [from, to] = [join(root, 'packages', name), join(copy, 'packages', name)];
    for (const part of parts)
      if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true });
    if (existsSync(join(from, 'node_modules')))
      symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'));
    const flags = isDeclared ? ['--silent'] : ['--no-dts', '--silent'];
    await execute(join(root, 'node_modules/.bin/tsup'), flags, { cwd: to });
    const pack = ['--config.ignore-scripts=true', 'pack', '--out', join(folder, tarball)];
    await execute(join(root, 'node_modules/.bin/pnpm'), pack, { cwd: to });
    rmSync(copy, { recursive: true });
  });
  return join(shared, tarball);
}

/**
 * Packs packages as `npm run pack` does, once for all test files of a run. The environment variable `TEST_PACKED` names the
 * folder with the result of that command, if there is one.
 * @param declared - packages that are built with declarations; others may have none
 * @returns the tarball of each package in the folder, by package name
 */
export async function packInto(
  folder: string,
  names: readonly string[] = forApps,
  declared: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const parent = join(process.env.TEST_SHARED ?? folder, 'packing');
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => {
        const tarball = await tarballOf(parent, name, declared.includes(name));
        const copy = join(folder, basename(tarball));
        copyFileSync(tarball, copy);
        return [name === 'create-ostiary' ? name : `@ostiary/${name}`, copy];
      }),
    ),
  );
}
