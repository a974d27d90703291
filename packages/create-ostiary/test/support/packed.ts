import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../../../..');
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
 * Packs packages as `npm run pack` does, but without declarations, which take most of its time, and in a copy, because other
 * tests pack the originals.
 * @param declared - packages that are built with declarations nevertheless
 * @returns the tarball of each package by package name
 */
export async function packInto(
  folder: string,
  names: readonly string[] = forApps,
  declared: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const copy = join(folder, 'workspace');
  mkdirSync(copy);
  for (const file of ['package.json', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'tsconfig.json'])
    cpSync(join(root, file), join(copy, file));
  cpSync(join(root, 'scripts/built-in-modules.ts'), join(copy, 'scripts/built-in-modules.ts'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  await Promise.all(
    names.map(async (name) => {
      const [from, to] = [join(root, 'packages', name), join(copy, 'packages', name)];
      for (const part of parts)
        if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true });
      if (existsSync(join(from, 'node_modules')))
        symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'));
      const flags = declared.includes(name) ? ['--silent'] : ['--no-dts', '--silent'];
      await execute(join(root, 'node_modules/.bin/tsup'), flags, { cwd: to });
    }),
  );
  const pnpm = join(root, 'node_modules/.bin/pnpm');
  const pack = ['--recursive', '--filter', './packages/*', '--config.ignore-scripts=true', 'pack'];
  await execute(pnpm, [...pack, '--out', join(folder, '%s.tgz')], { cwd: copy });
  return new Map(
    names.map((name) => {
      const isScoped = name !== 'create-ostiary';
      return [
        isScoped ? `@ostiary/${name}` : name,
        join(folder, `${isScoped ? `ostiary-${name}` : name}.tgz`),
      ];
    }),
  );
}
