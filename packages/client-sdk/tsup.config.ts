import { resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';

const entries = {
  index: 'src/index.ts',
  oauth: 'src/oauth/index.ts',
  reconciliation: 'src/reconciliation/index.ts',
};

const shared: Options = {
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // Share one class of errors and of clients between all entries, in CommonJS too.
  splitting: true,
  external: [/^node:/],
  sourcemap: true,
  removeNodeProtocol: false,
};

/**
 * The build for Node imports modules of Node. The build for other platforms asks for these modules only when
 * it uses them, and works without them.
 */
export default defineConfig([
  { ...shared, entry: entries, dts: true },
  {
    ...shared,
    entry: Object.fromEntries(Object.entries(entries).map(([name, file]) => [`node/${name}`, file])),
    esbuildPlugins: [
      {
        name: 'modules of Node',
        setup({ onResolve }) {
          const path = resolve('src/platform/builtin-node.ts');
          onResolve({ filter: /\/builtin\.ts$/ }, () => ({ path }));
        },
      },
    ],
  },
]);
