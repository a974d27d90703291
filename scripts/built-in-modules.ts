import { pathToFileURL } from 'node:url';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Replaces each module named `*.built-in.ts` by the values of its exports, which are JSON. Such a module
 * reads files beside it. Programs that run from the sources read those files at the start; in a build the
 * values are part of the JavaScript, so that a bundler needs no further files.
 */
export const builtInModules: Plugin = {
  name: 'built-in-modules',
  setup(build) {
    build.onLoad({ filter: /\.built-in\.ts$/ }, async ({ path }) => {
      const values: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
      const lines = Object.entries(values).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
      );
      return { contents: lines.join('\n'), loader: 'js' };
    });
  },
};
