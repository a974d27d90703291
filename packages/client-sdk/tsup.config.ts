import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { index: 'src/index.ts', oauth: 'src/oauth/index.ts' },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // One class of errors for both entries, in CommonJS too.
  splitting: true,
  external: [/^node:/],
  dts: true,
  clean: true,
  sourcemap: true,
});
