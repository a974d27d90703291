import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    resolve: { conditions: ['source', 'node', 'import'], externalConditions: ['source', 'node', 'import'] },
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'tests/**/*.test.ts'],
    pool: 'forks',
    execArgv: ['--conditions=source'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files that start browsers or clusters of processes would starve each other on a small machine.
    maxWorkers: 2,
  },
});
