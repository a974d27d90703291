import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig } from 'tsup';

const shared = [
  '../../support/measure/raw-server.ts',
  '../queue/servers/sink.ts',
  '../queue/servers/ostiary.ts',
];

// Builds the measured processes, since type stripping would distort the measurement.
export default defineConfig({
  entry: Object.fromEntries(
    [...shared, ...globSync('servers/*.ts')].map((file) => [basename(file, '.ts'), file]),
  ),
  skipNodeModulesBundle: true,
  format: 'esm',
  target: 'node22',
  clean: true,
});
