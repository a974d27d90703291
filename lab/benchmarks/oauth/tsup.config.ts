import { defineConfig } from 'tsup';

// The measured processes run built code only: type stripping would be measured along.
export default defineConfig({
  entry: {
    bare: 'servers/bare.ts',
    ostiary: 'servers/ostiary.ts',
    'raw-server': '../../support/measure/raw-server.ts',
    'bare-postgres': '../../support/postgres/bare-postgres.ts',
  },
  external: ['koa'],
  format: 'esm',
  target: 'node22',
  clean: true,
});
