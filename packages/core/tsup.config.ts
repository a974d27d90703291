import { defineConfig } from 'tsup';
import { builtInModules } from '../../scripts/built-in-modules.ts';
import { fewChunks } from '../../scripts/few-chunks.ts';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    admin: 'src/admin.ts',
    console: 'src/console.ts',
    pages: 'src/pages.ts',
    'resource-server': 'src/resource-server.ts',
    storage: 'src/storage.ts',
    internal: 'src/internal.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  esbuildPlugins: [
    builtInModules,
    // A resource server in a separate process loads neither a provider nor a database.
    fewChunks('src/ostiary.ts', ['src/oauth/dpop-proof.ts']),
  ],
  sourcemap: true,
});
