import { defineConfig } from 'tsup';

// The measured processes run built code only: type stripping would be measured along.
export default defineConfig({
  entry: { ostiary: 'servers/ostiary.ts', bare: 'servers/bare.ts', sink: 'servers/sink.ts' },
  format: 'esm',
  target: 'node22',
  clean: true,
});
