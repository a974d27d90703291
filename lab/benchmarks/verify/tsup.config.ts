import { defineConfig } from 'tsup';

// The measured processes run built code only: type stripping would be measured along.
export default defineConfig({
  entry: { worker: 'worker.ts' },
  format: 'esm',
  target: 'node22',
  clean: true,
});
