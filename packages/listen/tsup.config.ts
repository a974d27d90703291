import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  target: 'node20',
  clean: true,
  sourcemap: true,
  // The client becomes part of the program, so that the package has no dependency to install.
  noExternal: ['@ostiary/client-sdk'],
  esbuildOptions(options) {
    options.conditions = ['ostiary-source'];
  },
});
