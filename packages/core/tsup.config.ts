import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli/index.ts',
    contract: 'src/contract/index.ts',
    memory: 'src/memory/index.ts',
    testing: 'src/testing/index.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  sourcemap: true,
});
