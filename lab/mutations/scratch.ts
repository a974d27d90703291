import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const repository = join(import.meta.dirname, '../..');

/**
 * Time limit for one run of the contract suite, in milliseconds. A storage that takes longer counts as
 * hanging.
 */
const timeoutMs = 600_000;

/** Links all entries of a folder into another folder, except some entries. */
function linkEntries(from: string, to: string, except: readonly string[]): void {
  for (const name of readdirSync(from))
    if (!except.includes(name)) symlinkSync(join(from, name), join(to, name));
}

/** Copies a storage adapter into a folder that links to the repository's other files. */
export function createScratch(adapter: string) {
  const root = mkdtempSync(join(tmpdir(), 'ostiary-mutations-'));
  const packages = join(root, 'packages');
  linkEntries(repository, root, ['packages', '.git']);
  cpSync(join(repository, 'packages', adapter), join(packages, adapter), {
    recursive: true,
    filter: (path) => !['node_modules', 'dist'].includes(basename(path)),
  });
  linkEntries(join(repository, 'packages'), packages, [adapter]);
  symlinkSync(join(repository, 'packages', adapter, 'node_modules'), join(packages, adapter, 'node_modules'));
  const report = join(root, 'report.json');

  return {
    folder: join(packages, adapter),

    /**
     * Runs the contract suite on the copied adapter. @returns the first test case that fails; `null` when all
     * pass
     */
    async firstFailure(): Promise<string | null> {
      const suite = join('packages', adapter, 'test/contract.test.ts');
      const args = ['run', '--root', root, '--bail=1', '--maxWorkers=1', '--reporter=json'];
      const vitest = join(repository, 'node_modules/.bin/vitest');
      rmSync(report, { force: true });
      const ended = await new Promise<boolean>((resolve) => {
        const options = { cwd: root, timeout: timeoutMs, maxBuffer: 1e9 };
        execFile(vitest, [...args, '--outputFile', report, suite], options, (error) => {
          resolve(error === null);
        });
      });
      return ended ? null : failureIn(report);
    },

    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

/** Reads from a report of vitest which test case failed first. */
function failureIn(file: string): string {
  try {
    const { testResults }: Report = JSON.parse(readFileSync(file, 'utf8'));
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find(({ status }) => status === 'failed');
    return failed?.title ?? 'the storage does not open';
  } catch {
    return 'the suite does not end';
  }
}
