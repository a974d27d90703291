/**
 * Measures the partner API on SQLite against bare Koa routes, in processes of their own that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { shown, type Target } from '../../support/measure/report.ts';
import { measureExport, measureExportOnPostgres } from './export.ts';
import { type Group, measurePayments, measureRequests, requestsOnPostgres } from './measurements.ts';

const targets = {
  verify: { name: 'verify', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
  users: { name: 'user lookup', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
  payments: { name: 'payments', unit: '/s', scale: 1, ratio: { atLeast: 0.7 } },
  export: { name: 'export, rows', unit: '/s', scale: 1, ratio: { atLeast: 0.5 } },
} as const satisfies { readonly [name: string]: Target };

/** How much resident memory may grow while an export is read, in bytes. */
const exportGrowthLimit = 30 * 1024 ** 2;

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

const benchmark = new Benchmark(
  import.meta.dirname,
  (bench) => {
    const size = bench.isQuick
      ? { rounds: 5, requests: 20_000, payments: 1_000, exportRounds: 4, rows: 50_000 }
      : { rounds: 9, requests: 20_000, payments: 3_000, exportRounds: 3, rows: 1_000_000 };
    /** A request to PostgreSQL crosses to another process and back. */
    const postgresSize = bench.isQuick
      ? { rounds: 3, requests: 2_000, payments: 500, exportRounds: 3, rows: 50_000 }
      : { rounds: 7, requests: 8_000, payments: 2_000, exportRounds: 3, rows: 300_000 };
    const requests = async (group: Group): Promise<void> => {
      const rates = await measureRequests(bench, group, size);
      bench.compare(targets[group], rates);
      bench.noteShare(targets[group].name, rates.ostiary, rates.raw);
    };
    return {
      measure: {
        verify: () => requests('verify'),
        users: () => requests('users'),
        async payments() {
          bench.compare(targets.payments, await measurePayments(bench, size));
        },
        async export() {
          const figures = await measureExport(bench, size);
          bench.compare(targets.export, figures);
          const most = Math.max(...figures.growth);
          const passed = most <= exportGrowthLimit;
          const cells = ['export, memory growth', '', mebibytes(most), '', ''];
          bench.add({
            cells: [...cells, `<= ${mebibytes(exportGrowthLimit)}`, passed ? 'PASS' : 'MISS'],
            passed,
          });
          bench.note(
            `${shown(size.rows)} rows were exported in each round; the round before, in the fresh process, grew it by ${mebibytes(figures.warmUpGrowth)}`,
          );
        },
      },
      onPostgres: {
        async verify(postgres) {
          const rates = await requestsOnPostgres(bench, postgres, 'verify', postgresSize);
          bench.inform({ ...targets.verify, name: 'verify, beside one look-up' }, rates);
        },
        async users(postgres) {
          const rates = await requestsOnPostgres(bench, postgres, 'users', postgresSize);
          bench.inform({ ...targets.users, name: 'user lookup, beside one look-up' }, rates);
        },
        async payments(postgres) {
          const rates = await measurePayments(bench, postgresSize, postgres);
          bench.inform({ ...targets.payments, name: 'payments, beside one INSERT' }, rates);
        },
        async export(postgres) {
          const rates = await measureExportOnPostgres(bench, postgres, postgresSize);
          bench.inform({ ...targets.export, name: 'export, rows, beside pages of SELECT' }, rates);
        },
      },
    };
  },
  // As the reference server is started; see its README.
  { flags: ['--max-semi-space-size=8'] },
);

await benchmark.run();
