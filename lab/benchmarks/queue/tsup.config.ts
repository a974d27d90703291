import { defineConfig } from 'tsup';

// The measured processes run built code only: type stripping would be measured along.
export default defineConfig({
  entry: {
    ostiary: 'servers/ostiary.ts',
    'pg-boss': 'servers/pg-boss.ts',
    'graphile-worker': 'servers/graphile-worker.ts',
    raw: 'servers/raw.ts',
    sink: 'servers/sink.ts',
  },
  format: 'esm',
  target: 'node22',
  clean: true,
});
