import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

const packages = 'packages/*/test/**/*.test.ts';

// A file that stops the clock stops the one by which undici ends connections, for all files that share its process.
const stopTheClock = globSync(packages, { cwd: root }).filter((file) =>
  readFileSync(join(root, file), 'utf8').includes('useFakeTimers'),
);

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    // Not `import`: Node adds it by itself where it belongs, and would otherwise take it for `require` too.
    resolve: { conditions: ['source', 'node'], externalConditions: ['source', 'node'] },
  },
  test: {
    projects: [
      {
        extends: true,
        // To load everything anew for each file would take two fifths of the time.
        test: { name: 'packages', include: [packages], exclude: stopTheClock, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['examples/*/test/**/*.test.ts', 'lab/**/*.test.ts', ...stopTheClock],
        },
      },
    ],
    pool: 'forks',
    execArgv: ['--conditions=source'],
    // Several processes are started in some tests, and on a machine whose processors are shared that can take a minute.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // For the same reason what is awaited has longer than its second.
    expect: { poll: { timeout: 20_000 } },
    // And a database that stands still with it is no fault of what a test is about, nor is a port that another test has
    // taken between two lines. The report says `retry`.
    retry: {
      count: 2,
      condition: /PostgreSQL database did not answer within \d+ ms|EADDRINUSE|port \d+ is taken/,
    },
    // Half of what a file takes is waiting, so three keep two processors busy; more would starve browsers and clusters.
    maxWorkers: 3,
  },
});
