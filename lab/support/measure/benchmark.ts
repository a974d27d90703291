import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type TestPostgres, testPostgres } from '../postgres/postgres.ts';
import { Child } from '../processes/child.ts';
import type { RawSettings } from './raw-server.ts';
import { type Figure, heads, machine, type Row, rowOf } from './report.ts';
import type { Comparison } from './statistics.ts';
import { watchStolenTime } from './stolen-time.ts';
import { tableOf } from './table.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Builds the packages and the measured servers, with the repository's package manager. */
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
 * Measurements of a benchmark, by the names that `--only` accepts. @param postgres - server to measure on;
 * `null` for SQLite
 */
type Measurements = Readonly<Record<string, (postgres: TestPostgres | null) => Promise<void>>>;

/** Database in which Ostiary keeps its data: SQLite or PostgreSQL. */
type StorageName = 'sqlite' | 'postgres';

/** Returns the values of a command-line option. @throws TypeError for an unknown value */
function chosen(option: string, given: string | undefined, known: readonly string[]): ReadonlySet<string> {
  const names = given?.split(',') ?? known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`--${option}: there is no ${unknown}`);
  return new Set(names);
}

/**
 * A benchmark with its options, processes and table of results. Options: `--quick` (a small run, whose
 * figures mean little), `--strict` (exit with 1 if a target is missed), `--only a,b`, `--storage
 * sqlite,postgres`, and `--no-build` (use the earlier build).
 */
export class Benchmark {
  readonly isQuick: boolean;
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly #options;
  #processes: Child[] = [];
  #rows: Row[] = [];
  #notes: string[] = [];
  #hasPassed = true;
  #isForInformation = false;

  /**
   * Builds the packages that the benchmark measures, unless `--no-build` is given.
   * @param folder - folder of the benchmark
   * @param flags - options of Node for every measured process
   */
  constructor(folder: string, flags: readonly string[] = []) {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        only: { type: 'string' },
        storage: { type: 'string' },
        'no-build': { type: 'boolean', default: false },
      },
    });
    this.#options = values;
    this.isQuick = values.quick;
    this.#folder = folder;
    this.#flags = flags;
    // Exit with `process.exit`, so that the servers are stopped and their databases are removed.
    process.once('SIGINT', () => process.exit(130));
    if (!values['no-build']) build(basename(folder));
    console.log([machine(), ...flags].join(', '));
  }

  /** Starts a built process, which is stopped after the measurement. @param flags - options of Node */
  async start(name: string, settings: object = {}, flags: readonly string[] = this.#flags): Promise<Child> {
    const env = { NODE_ENV: 'production', NODE_OPTIONS: process.env.NODE_OPTIONS ?? '' };
    const started = new Child(join(this.#folder, `dist/${name}.js`), settings, { flags, env });
    this.#processes.push(started);
    await started.ready;
    return started;
  }

  /**
   * Starts a server that sends the same given response to every request: the limit of Node with these bytes.
   */
  startRaw(answer: Response, body: string): Promise<Child> {
    // Node writes these headers itself, as it does for the measured servers.
    const own = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
    const headers = [...answer.headers].filter(([name]) => !own.has(name)).flat();
    return this.start('raw-server', { headers, body } satisfies RawSettings);
  }

  /** Adds a figure to the benchmark's table. */
  compare({ atLeast, atMost, ...figure }: Figure, comparison: Comparison): void {
    const target = { ...(atLeast && { atLeast }), ...(atMost && { atMost }) };
    this.add(rowOf(this.#isForInformation ? figure : { ...figure, ...target }, comparison));
  }

  add(row: Row): void {
    this.#rows.push(row);
    this.#hasPassed &&= row.passed || this.#isForInformation;
  }

  /** Adds a line below the benchmark's table. */
  note(line: string): void {
    this.#notes.push(line);
  }

  /**
   * Runs the chosen measurements, prints the results, and ends the process.
   * @param storages - storages to measure on; only figures of the first one have targets
   */
  async run(
    measurements: Measurements,
    storages: readonly [StorageName, ...StorageName[]] = ['sqlite'],
  ): Promise<never> {
    const only = chosen('only', this.#options.only, Object.keys(measurements));
    const stolen = watchStolenTime();
    for (const storage of chosen('storage', this.#options.storage, storages)) {
      this.#isForInformation = storage !== storages[0];
      // Use the settings after installation: `fsync` and `synchronous_commit` on. Only the number of
      // connections is higher, and shared memory is in files.
      const isPostgres = storage === 'postgres';
      const postgres = isPostgres ? await testPostgres({ settings: ['max_connections=400'] }) : null;
      for (const name of only) {
        console.error(`measuring ${name} …`);
        await measurements[name]?.(postgres);
        await Promise.all(this.#processes.splice(0).map((one) => one.stop()));
      }
      await postgres?.remove();
      this.#print(isPostgres ? 'On PostgreSQL 18:\n\n' : '');
    }
    console.log(`\n${stolen()}`);
    // Call exit, because the package of PostgreSQL overwrites `process.exitCode` when a process ends by
    // itself.
    process.exit(this.#options.strict && !this.#hasPassed ? 1 : 0);
  }

  #print(title: string): void {
    const cells = this.#rows.splice(0).map((row) => row.cells);
    if (cells.length > 0) console.log(`\n${title}${tableOf(heads, cells)}\n`);
    for (const note of this.#notes.splice(0)) console.log(note);
  }
}
