import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'tsup';
import { builtInModules } from '../../../scripts/built-in-modules.ts';

const root = resolve(import.meta.dirname, '../../..');

/**
 * Builds a package and puts the result into the `node_modules` of a folder, as npm does. Next.js treats
 * packages of a workspace as sources of the application, which it does not do with an installed Ostiary.
 * @param name name of the package without `@ostiary/`
 */
export async function installBuilt(name: string, folder: string): Promise<void> {
  const [from, to] = [join(root, 'packages', name), join(folder, 'node_modules/@ostiary', name)];
  mkdirSync(to, { recursive: true });
  const { sql, ...manifest } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  writeFileSync(join(to, 'package.json'), JSON.stringify({ ...manifest, exports: './dist/index.js' }));
  await build({
    config: false,
    silent: true,
    entry: { index: join(from, 'src/index.ts') },
    outDir: join(to, 'dist'),
    format: 'esm',
    target: 'node22',
    tsconfig: join(root, 'tsconfig.json'),
    skipNodeModulesBundle: true,
    esbuildPlugins: [builtInModules],
    noExternal: ['@ostiary/webhook-verifier', /^#platform/],
    esbuildOptions: (options) => {
      options.conditions = ['ostiary-source', 'node'];
    },
  });
  symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'));
}
