import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('.', import.meta.url));

// A file that stops the clock stops the one by which undici ends connections, for all files that share its process.
const { alone = [], shared = [] } = Object.groupBy(
  globSync(['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts', 'lab/**/*.test.ts'], {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  }),
  (file) => (readFileSync(join(root, file), 'utf8').includes('useFakeTimers') ? 'alone' : 'shared'),
);

/** True if a folder exists and has room for the databases of the tests. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= 8 * 1024 ** 3;
}

/**
 * Makes the folder of what files of this run share, such as the data of a new PostgreSQL server. Databases of tests wait for
 * no disk where there is room for them in memory: what ends in a test is a process, and never a machine.
 */
function makeFolder(memory: string): void {
  const isMemory = hasRoom(memory);
  const own = mkdtempSync(join(isMemory ? memory : tmpdir(), 'ostiary-tests-'));
  // A database of another user lies in it.
  chmodSync(own, 0o755);
  if (isMemory) process.env.TMPDIR = own;
  process.env.TEST_SHARED = own;
  process.once('exit', () => rmSync(own, { recursive: true, force: true }));
}

makeFolder('/dev/shm');

/**
 * Starts first what takes longest, so that no process ends with a long file alone: files that start processes, databases
 * and browsers. Vitest knows only how large a file is, unless it has run here before.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Those that run alone stay first, because they end a shared process.
    const isLong = ({ moduleId, project }: TestSpecification) =>
      project.name === 'alone' ||
      /\/(?:lab|examples|packages\/(?:adapter-postgres|create-ostiary|listen))\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  resolve: { conditions: ['ostiary-source'] },
  ssr: {
    // Not `import`: Node adds it by itself where it belongs, and would otherwise take it for `require` too.
    resolve: { conditions: ['ostiary-source', 'node'], externalConditions: ['ostiary-source', 'node'] },
  },
  test: {
    projects: [
      // To load everything anew for each file would take a fifth of the time.
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    execArgv: ['--conditions=ostiary-source'],
    setupFiles: [join(root, 'lab/support/untouched-prototypes.ts')],
    // Several processes are started in some tests, and on a machine whose processors are shared that can take a minute.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // For the same reason what is awaited has longer than its second.
    expect: { poll: { timeout: 40_000 } },
    // And a database that stands still with it is no fault of what a test is about, nor is a port that another test has
    // taken between two lines. The report says `retry`.
    retry: {
      count: 2,
      condition:
        /PostgreSQL database did not answer within \d+ ms|canceling statement due to lock timeout|Query read timeout|a call ended before all of them waited|EADDRINUSE|port \d+ is taken/,
    },
    // Half of the time of a file is waiting, so four files keep two processors busy. With more, browsers and clusters would
    // get too little of the processors.
    maxWorkers: 4,
  },
});
