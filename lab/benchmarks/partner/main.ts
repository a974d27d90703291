/**
 * Measures the partner API on SQLite against bare Koa routes, in processes of their own that take turns. See README.md.
 */
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { informationOf, machine, type Row, ratioTable, rowOf } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/as-installed.ts';
import { measureExport } from './measurements/export.ts';
import { measurePayments } from './measurements/payments.ts';
import { exportOnPostgres, requestsOnPostgres } from './measurements/postgres.ts';
import { type Group, measureRequests } from './measurements/requests.ts';
import { exportGrowthLimit, type TargetName, targets } from './targets.ts';

const options = beginBenchmark(import.meta.dirname, {
  only: Object.keys(targets),
  storage: ['sqlite', 'postgres'],
});
const { quick, strict, only, storages } = options;

/** As the reference server is started; see its README. */
const deployed = ['--max-semi-space-size=8'];
const flags = [...deployed, ...options.flags];
const size = quick
  ? { rounds: 5, requests: 20_000, payments: 1_000, exportRounds: 4, rows: 50_000 }
  : { rounds: 9, requests: 20_000, payments: 3_000, exportRounds: 3, rows: 1_000_000 };
/** A request to PostgreSQL crosses to another process and back. */
const postgresSize = quick
  ? { rounds: 3, requests: 2_000, payments: 500, exportRounds: 3, rows: 50_000 }
  : { rounds: 7, requests: 8_000, payments: 2_000, exportRounds: 3, rows: 300_000 };

const rows: Row[] = [];
const notes: string[] = [];

async function requests(group: Group): Promise<void> {
  const rates = await measureRequests(group, { rounds: size.rounds, perRound: size.requests, flags });
  rows.push(rowOf(targets[group], rates));
  const share = median(rates.ostiary.map((rate, round) => rate / (rates.raw[round] ?? Number.NaN)));
  const raw = Math.round(median(rates.raw)).toLocaleString('en-US');
  notes.push(
    `${targets[group].name} reaches ${(share * 100).toFixed(0)} % of a raw node:http server that answers the same bytes (${raw}/s)`,
  );
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

const measurements: { readonly [Name in TargetName]: () => Promise<void> } = {
  verify: () => requests('verify'),
  users: () => requests('users'),
  async payments() {
    rows.push(
      rowOf(targets.payments, await measurePayments({ rounds: size.rounds, perRound: size.payments, flags })),
    );
  },
  async export() {
    const figures = await measureExport({ rounds: size.exportRounds, rows: size.rows, flags });
    rows.push(rowOf(targets.export, figures));
    const most = Math.max(...figures.growth);
    const passed = most <= exportGrowthLimit;
    const cells = [
      'export, memory growth',
      '',
      mebibytes(most),
      '',
      '',
      `<= ${mebibytes(exportGrowthLimit)}`,
    ];
    rows.push({ cells: [...cells, passed ? 'PASS' : 'MISS'], passed });
    notes.push(
      `${size.rows.toLocaleString('en-US')} rows were exported in each round; the round before, in the fresh process, grew it by ${mebibytes(figures.warmUpGrowth)}`,
    );
  },
};

/** The same on PostgreSQL: nothing is asked of these figures. */
const onPostgres: {
  readonly [Name in TargetName]: (postgres: PostgresServer) => Promise<Row>;
} = {
  verify: async (postgres) =>
    informationOf(
      { ...targets.verify, name: 'verify, beside one look-up' },
      await requestsOnPostgres(postgres, 'verify', postgresSize, flags),
    ),
  users: async (postgres) =>
    informationOf(
      { ...targets.users, name: 'user lookup, beside one look-up' },
      await requestsOnPostgres(postgres, 'users', postgresSize, flags),
    ),
  async payments(postgres) {
    const { rounds, payments: perRound } = postgresSize;
    return informationOf(
      { ...targets.payments, name: 'payments, beside one INSERT' },
      await measurePayments({ rounds, perRound, flags, postgres }),
    );
  },
  export: async (postgres) =>
    informationOf(
      { ...targets.export, name: 'export, rows, beside pages of SELECT' },
      await exportOnPostgres(postgres, postgresSize, flags),
    ),
};

console.log(`${machine()}, ${deployed.join(' ')}`);
for (const [name, measure] of Object.entries(measurements)) {
  if (!only.has(name) || !storages.has('sqlite')) continue;
  console.error(`measuring ${name} …`);
  await measure();
}
if (rows.length > 0) console.log(`\n${ratioTable(rows)}\n`);
for (const note of notes) console.log(note);
if (storages.has('postgres')) {
  const postgres = await startPostgres();
  const information: Row[] = [];
  for (const [name, measure] of Object.entries(onPostgres)) {
    if (!only.has(name)) continue;
    console.error(`measuring ${name} on PostgreSQL …`);
    information.push(await measure(postgres));
  }
  await postgres.stop();
  console.log(`\nOn PostgreSQL 18, for information:\n\n${ratioTable(information)}`);
}
// Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
process.exit(strict && rows.some(({ passed }) => !passed) ? 1 : 0);
