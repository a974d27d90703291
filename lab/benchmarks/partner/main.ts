/**
 * Measures the partner API on SQLite against bare Koa routes, in processes of their own that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { judged, shown } from '../../support/measure/report.ts';
import { type ExportFigures, measureExport } from './export.ts';
import { type Group, measurePayments, measureRequests, requestsOnPostgres } from './measurements.ts';

/** How much resident memory may grow while an export is read, in bytes. */
const exportGrowthLimit = 30 * 1024 ** 2;

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

// As the reference server is started; see its README.
const bench = new Benchmark(import.meta.dirname, ['--max-semi-space-size=8']);
const size = bench.isQuick
  ? { rounds: 5, requests: 20_000, payments: 1_000, exportRounds: 4, rows: 50_000 }
  : { rounds: 9, requests: 20_000, payments: 3_000, exportRounds: 3, rows: 1_000_000 };
/** A request to PostgreSQL crosses to another process and back. */
const postgresSize = bench.isQuick
  ? { rounds: 3, requests: 2_000, payments: 500, exportRounds: 3, rows: 50_000 }
  : { rounds: 7, requests: 8_000, payments: 2_000, exportRounds: 3, rows: 300_000 };

async function requests(group: Group, name: string): Promise<void> {
  const rates = await measureRequests(bench, group, size);
  bench.compare({ name, unit: '/s', atLeast: 0.5 }, rates);
  bench.noteShare(name, rates.ostiary, rates.raw);
}

function compareGrowth({ growth, warmUpGrowth }: ExportFigures): void {
  const passed = growth <= exportGrowthLimit;
  const cells = ['export, memory growth', '', mebibytes(growth), '', ''];
  bench.add({ cells: [...cells, ...judged(`<= ${mebibytes(exportGrowthLimit)}`, passed)], passed });
  bench.note(
    `${shown(size.rows)} rows were exported in each round; the round before, in the fresh process, grew it by ${mebibytes(warmUpGrowth)}`,
  );
}

await bench.run({
  measure: {
    verify: () => requests('verify', 'verify'),
    users: () => requests('users', 'user lookup'),
    async payments() {
      bench.compare({ name: 'payments', unit: '/s', atLeast: 0.7 }, await measurePayments(bench, size));
    },
    async export() {
      const figures = await measureExport(bench, size);
      bench.compare({ name: 'export, rows', unit: '/s', atLeast: 0.5 }, figures);
      compareGrowth(figures);
    },
  },
  onPostgres: {
    async verify(postgres) {
      const rates = await requestsOnPostgres(bench, postgres, 'verify', postgresSize);
      bench.compare({ name: 'verify, beside one look-up', unit: '/s' }, rates);
    },
    async users(postgres) {
      const rates = await requestsOnPostgres(bench, postgres, 'users', postgresSize);
      bench.compare({ name: 'user lookup, beside one look-up', unit: '/s' }, rates);
    },
    async payments(postgres) {
      const rates = await measurePayments(bench, postgresSize, postgres);
      bench.compare({ name: 'payments, beside one INSERT', unit: '/s' }, rates);
    },
    async export(postgres) {
      const rates = await measureExport(bench, postgresSize, await postgres.newDatabase());
      bench.compare({ name: 'export, rows, beside pages of SELECT', unit: '/s' }, rates);
    },
  },
});
