import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  sourcemap: true,
});
