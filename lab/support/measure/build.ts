import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');

/**
 * Builds the packages and the measured servers, with the package manager that the repository names.
 * @param folder - the benchmark, such as `./benchmarks/oauth`
 */
export function build(folder: string): void {
  const { packageManager }: { packageManager: string } = JSON.parse(
    readFileSync(resolve(root, 'package.json'), 'utf8'),
  );
  const filters = ['--filter', './packages/*', '--filter', folder];
  execFileSync('npx', ['--yes', packageManager, '--silent', ...filters, 'run', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
