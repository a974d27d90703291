import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    oauth: 'src/oauth/index.ts',
    reconciliation: 'src/reconciliation/index.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // One class of errors and of clients for all entries, in CommonJS too.
  splitting: true,
  external: [/^node:/],
  dts: true,
  clean: true,
  sourcemap: true,
});
