import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Keeps the code that a program always loads in few files. The bundler makes a file for each set of entries
 * and lazily loaded modules that share code, and loading sixty small files took a fifteenth of the time to
 * the first answer. Makes lazily loaded modules import the main module, so that they all share the same code.
 * @param main - module that is always loaded before the lazily loaded ones
 * @param except - lazily loaded modules that are also used without the main module
 */
export function fewChunks(main: string, except: readonly string[]): Plugin {
  const others = except.map((path) => resolve(path));
  return {
    name: 'few-chunks',
    setup(build) {
      build.onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, resolveDir }) => {
        const file = resolve(resolveDir, path);
        if (kind !== 'dynamic-import' || others.includes(file)) return null;
        return { path: file, pluginData: { isLazy: true } };
      });
      build.onLoad({ filter: /\.ts$/ }, async ({ path, pluginData }) => {
        if (pluginData?.isLazy !== true) return null;
        const source = await readFile(path, 'utf8');
        return { contents: `${source}\nimport ${JSON.stringify(resolve(main))};\n`, loader: 'ts' };
      });
    },
  };
}
