import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../free-port.ts';
import { type TestPostgres, testPostgres } from '../postgres/postgres.ts';
import type { RawSettings } from './raw-server.ts';
import { informationOf, machine, type Row, ratioTable, rowOf, shown, type Target } from './report.ts';
import { ServerProcess } from './server-process.ts';
import { type Comparison, median, ratios } from './statistics.ts';

const root = resolve(import.meta.dirname, '../../..');

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
 * Starts a PostgreSQL 18 as it is installed: `fsync` and `synchronous_commit` on, every setting that costs or saves time
 * at its default. Only connections are more than usual.
 */
export function benchmarkPostgres(): Promise<TestPostgres> {
  return testPostgres({ settings: ['max_connections=400'] });
}

/** Reads the options that all benchmarks have, and `--only` and `--storage` where there is a choice. */
function readOptions(choices: { readonly only: readonly string[]; readonly storage: readonly string[] }) {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      ...(choices.only.length > 1 && { only: { type: 'string' } as const }),
      ...(choices.storage.length > 1 && { storage: { type: 'string' } as const }),
      'node-flags': { type: 'string', default: '' },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const chosen = (option: 'only' | 'storage'): ReadonlySet<string> => {
    const given = values[option];
    const names = typeof given === 'string' ? given.split(',') : choices[option];
    for (const name of names)
      if (!choices[option].includes(name)) throw new TypeError(`--${option}: there is no ${name}`);
    return new Set(names);
  };
  return { values, only: chosen('only'), storages: chosen('storage') };
}

type Measurements<Argument extends unknown[]> = Readonly<
  Record<string, (...given: Argument) => Promise<void>>
>;

/** What a benchmark measures, by the names that `--only` takes. */
export interface Plan {
  /** On SQLite, or without a storage. */
  readonly measure: Measurements<[]>;
  /** The same on PostgreSQL: nothing is asked of these figures. */
  readonly onPostgres?: Measurements<[postgres: TestPostgres]>;
  /** Called when everything is measured. */
  readonly end?: () => Promise<void>;
}

/** How a benchmark differs from others. */
export interface Habits {
  /** Options of Node for every measured process, besides `--node-flags`. */
  readonly flags?: readonly string[];
  /** Whether it exits with 1 when a target is missed, also without `--strict`. */
  readonly isStrict?: boolean;
}

/**
 * One benchmark: its options, its processes, and its table. It takes `--quick` (a small run, whose figures mean little), `--strict`
 * (exit with 1 when a target is missed), `--only a,b`, `--storage sqlite,postgres`, `--node-flags "--cpu-prof"` and `--no-build` (use
 * what was built before).
 */
export class Benchmark {
  readonly isQuick: boolean;
  readonly #folder: string;
  readonly #plan: Plan;
  readonly #only: ReadonlySet<string>;
  readonly #storages: ReadonlySet<string>;
  readonly #isStrict: boolean;
  readonly #flags: readonly string[];
  #processes: ServerProcess[] = [];
  #rows: Row[] = [];
  #notes: string[] = [];
  #hasPassed = true;

  /**
   * Builds what is measured.
   * @param folder - of the benchmark
   * @param plan - made with the benchmark, which knows its size
   */
  constructor(
    folder: string,
    plan: (benchmark: Benchmark) => Plan,
    { flags = [], isStrict = false }: Habits = {},
  ) {
    this.isQuick = process.argv.includes('--quick');
    this.#folder = folder;
    this.#plan = plan(this);
    const { values, only, storages } = readOptions({
      only: Object.keys(this.#plan.measure),
      storage: this.#plan.onPostgres ? ['sqlite', 'postgres'] : ['sqlite'],
    });
    this.#only = only;
    this.#storages = storages;
    this.#isStrict = isStrict || values.strict === true;
    const given = values['node-flags'];
    const more = typeof given === 'string' ? given.split(' ').filter((flag) => flag !== '') : [];
    this.#flags = [...flags, ...more];
    // Servers end with this process, and their databases are removed when it ends in order.
    process.once('SIGINT', () => process.exit(130));
    if (values['no-build'] !== true) build(basename(folder));
    console.log([machine(), ...flags].join(', '));
  }

  /** Starts a built process, and gives it a free port. @param flags - of Node */
  async process(
    name: string,
    settings: object = {},
    flags: readonly string[] = this.#flags,
  ): Promise<ServerProcess> {
    const file = join(this.#folder, `dist/${name}.js`);
    return ServerProcess.start(file, { port: await freePort(), ...settings }, flags);
  }

  /** Starts a built process that ends with the measurement. */
  async start(name: string, settings: object = {}, flags?: readonly string[]): Promise<ServerProcess> {
    const started = await this.process(name, settings, flags);
    this.#processes.push(started);
    return started;
  }

  /** Starts a server that answers every request with the bytes of this answer: the limit of what Node can do with them. */
  startRaw(answer: Response, body: string): Promise<ServerProcess> {
    // Node writes these itself, as it does for the servers that are measured.
    const own = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
    const headers = [...answer.headers].filter(([name]) => !own.has(name)).flat();
    return this.start('raw-server', { headers, body } satisfies Omit<RawSettings, 'port'>);
  }

  /** Adds a figure of which something is asked. */
  compare(target: Target, comparison: Comparison): void {
    this.add(rowOf(target, comparison));
  }

  /** Adds a figure of which nothing is asked. */
  inform(figure: Omit<Target, 'ratio'>, comparison: Comparison): void {
    this.add(informationOf(figure, comparison));
  }

  add(row: Row): void {
    this.#rows.push(row);
    this.require(row.passed);
  }

  /** Something else that is asked for. */
  require(passed: boolean): void {
    this.#hasPassed &&= passed;
  }

  /** Adds a line below the table. */
  note(line: string): void {
    this.#notes.push(line);
  }

  /** Says below the table how near the limit a figure comes. */
  noteShare(name: string, ostiary: readonly number[], raw: readonly number[]): void {
    const share = (median(ratios({ bare: raw, ostiary })) * 100).toFixed(0);
    this.note(
      `${name} reaches ${share} % of a raw node:http server that answers the same bytes (${shown(median(raw))}/s)`,
    );
  }

  /** Measures what is chosen, prints it, and ends the process. */
  async run(): Promise<never> {
    const { measure, onPostgres = {}, end } = this.#plan;
    if (this.#storages.has('sqlite')) await this.#each(measure, '');
    this.#print('');
    const chosen = Object.keys(onPostgres).some((name) => this.#only.has(name));
    if (this.#storages.has('postgres') && chosen) {
      const postgres = await benchmarkPostgres();
      await this.#each(onPostgres, ' on PostgreSQL', postgres);
      await postgres.remove();
      this.#print('On PostgreSQL 18, for information:\n\n');
    }
    await end?.();
    // Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
    process.exit(this.#isStrict && !this.#hasPassed ? 1 : 0);
  }

  async #each<Argument extends unknown[]>(
    measurements: Measurements<Argument>,
    where: string,
    ...given: Argument
  ): Promise<void> {
    for (const [name, work] of Object.entries(measurements)) {
      if (!this.#only.has(name)) continue;
      console.error(`measuring ${name}${where} …`);
      await work(...given);
      for (const server of this.#processes.splice(0)) await server.stop();
    }
  }

  #print(title: string): void {
    if (this.#rows.length > 0) console.log(`\n${title}${ratioTable(this.#rows)}\n`);
    for (const note of this.#notes.splice(0)) console.log(note);
    this.#rows = [];
  }
}
