import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    dedupe: 'src/dedupe/index.ts',
    fetch: 'src/receivers/fetch.ts',
    express: 'src/receivers/express.ts',
    fastify: 'src/receivers/fastify.ts',
    koa: 'src/receivers/koa.ts',
    hono: 'src/receivers/hono.ts',
    next: 'src/receivers/next.ts',
    'platform-node': 'src/platform/node.ts',
    'platform-web': 'src/platform/web.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // Share the error classes between all entries, also in CommonJS.
  splitting: true,
  // Resolve the platform when the package is loaded or bundled, not here.
  external: ['#platform', /^node:/],
  dts: true,
  clean: true,
  sourcemap: true,
});
