import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig } from 'tsup';

const shared = [
  '../../support/measure/raw-server.ts',
  '../queue/servers/sink.ts',
  '../queue/servers/ostiary.ts',
];

// The measured processes run built code only: type stripping would be measured along.
export default defineConfig({
  entry: Object.fromEntries(
    [...shared, ...globSync('servers/*.ts')].map((file) => [basename(file, '.ts'), file]),
  ),
  skipNodeModulesBundle: true,
  format: 'esm',
  target: 'node22',
  clean: true,
});
