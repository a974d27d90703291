import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Hundreds of processes are started from the same sources, here and by the tests: what Node made of them is kept.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/node-compile', import.meta.url),
);

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    // Not `import`: Node adds it by itself where it belongs, and would otherwise take it for `require` too.
    resolve: { conditions: ['source', 'node'], externalConditions: ['source', 'node'] },
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'tests/**/*.test.ts'],
    pool: 'forks',
    execArgv: ['--conditions=source'],
    // Several processes are started in some tests, and on a machine whose processors are shared that can take a minute.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // For the same reason what is awaited has longer than its second.
    expect: { poll: { timeout: 20_000 } },
    // And a database that stands still with it is no fault of what a test is about. The report says `retry`.
    retry: { count: 2, condition: /PostgreSQL database did not answer within \d+ ms/ },
    // Files that start browsers or clusters of processes would starve each other on a small machine.
    maxWorkers: 2,
  },
});
