import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '../../..');

/** How a benchmark is run. */
export interface BenchmarkOptions {
  /** A small run, to see that everything works; its figures mean little. */
  readonly quick: boolean;
  /** Exit with 1 when a target is missed. */
  readonly strict: boolean;
  /** What is measured. */
  readonly only: ReadonlySet<string>;
  /** On which storages. */
  readonly storages: ReadonlySet<string>;
  /** Options of Node for the measured processes. */
  readonly flags: readonly string[];
}

/** @throws TypeError for a name that is not known */
function chosen(option: string, text: string | undefined, known: readonly string[]): ReadonlySet<string> {
  const names = text === undefined ? known : text.split(',');
  for (const name of names)
    if (!known.includes(name)) throw new TypeError(`--${option}: there is no ${name}`);
  return new Set(names);
}

/** Builds the packages and the measured servers, with the package manager that the repository names. */
function build(name: string): void {
  const { packageManager }: { packageManager: string } = JSON.parse(
    readFileSync(resolve(root, 'package.json'), 'utf8'),
  );
  const filters = ['--filter', './packages/*', '--filter', `./lab/benchmarks/${name}`];
  execFileSync('npx', ['--yes', packageManager, '--silent', ...filters, 'run', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * Reads `--quick`, `--strict`, `--only a,b`, `--storage sqlite,postgres`, `--node-flags "--cpu-prof"` and `--no-build`, and
 * builds what is measured.
 *
 * @param folder - of the benchmark
 * @param names - that `--only` and `--storage` take, where there is a choice
 */
export function beginBenchmark(
  folder: string,
  names: { readonly only?: readonly string[]; readonly storage?: readonly string[] } = {},
): BenchmarkOptions {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      ...(names.only && { only: { type: 'string' } as const }),
      ...(names.storage && { storage: { type: 'string' } as const }),
      'node-flags': { type: 'string', default: '' },
      // Use what was built before.
      'no-build': { type: 'boolean', default: false },
    },
  });
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const options: BenchmarkOptions = {
    quick: values.quick === true,
    strict: values.strict === true,
    only: chosen('only', text(values.only), names.only ?? []),
    storages: chosen('storage', text(values.storage), names.storage ?? []),
    flags: (text(values['node-flags']) ?? '').split(' ').filter((flag) => flag !== ''),
  };
  // Servers end with this process, and their databases are removed when it ends in order.
  process.once('SIGINT', () => process.exit(130));
  if (values['no-build'] !== true) build(basename(folder));
  return options;
}
