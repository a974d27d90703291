/**
 * Measures the partner API against bare Koa routes, in separate processes that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { judged, shown } from '../../support/measure/report.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import { measureExport } from './export.ts';
import { type Group, measureBeside, measurePayments, measureRequests } from './measurements.ts';

/** Maximum growth of a server's resident memory while a client reads an export, in bytes. */
const exportGrowthLimit = 30 * 1024 ** 2;

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

// Flags with which the reference server is started; see its README.
const bench = new Benchmark(import.meta.dirname, [
  '--max-semi-space-size=8',
  '--no-allocation-site-pretenuring',
]);
const size = bench.isQuick
  ? { rounds: 5, requests: 20_000, payments: 1_000, alone: 100, exportRounds: 4, rows: 50_000 }
  : { rounds: 9, requests: 20_000, payments: 3_000, alone: 300, exportRounds: 3, rows: 1_000_000 };

async function requests(postgres: TestPostgres | null, group: Group, name: string): Promise<void> {
  const { bare, ostiary, raw, alone } = await measureRequests(bench, postgres, group, size);
  bench.compare({ name, unit: '/s', atLeast: 0.5 }, { bare, ostiary });
  bench.compare({ name: `${name}, beside raw node:http`, unit: '/s' }, { bare: raw, ostiary });
  bench.compare({ name: `${name}, alone`, unit: ' µs' }, alone);
}

await bench.run(
  {
    verify: (postgres) => requests(postgres, 'verify', 'verify'),
    async console(postgres) {
      const name = 'verify with the console, beside without';
      const rates = await measureBeside(bench, postgres, size, { withConsole: true, withLog: false });
      bench.compare({ name, unit: '/s', atLeast: 0.97 }, rates);
    },
    async log(postgres) {
      const name = 'verify with console and log, beside without';
      const rates = await measureBeside(bench, postgres, size, { withConsole: true, withLog: true });
      bench.compare({ name, unit: '/s', atLeast: 0.97 }, rates);
    },
    users: (postgres) => requests(postgres, 'users', 'user lookup'),
    async payments(postgres) {
      for (const keys of [1, 100]) {
        const { alone, ...rates } = await measurePayments(bench, postgres, size, keys);
        const name = keys === 1 ? 'payments' : `payments, ${keys} keys`;
        bench.compare({ name, unit: '/s', atLeast: 0.7 }, rates);
        bench.compare({ name: `${name}, alone`, unit: ' µs' }, alone);
      }
    },
    async export(postgres) {
      const { growth, warmUpGrowth, ...rates } = await measureExport(bench, postgres, size);
      bench.compare({ name: 'export, rows', unit: '/s', atLeast: 0.5 }, rates);
      const passed = growth <= exportGrowthLimit;
      const cells = ['export, memory growth', '', mebibytes(growth), '', ''];
      bench.add({ cells: [...cells, ...judged(`<= ${mebibytes(exportGrowthLimit)}`, passed)], passed });
      bench.note(
        `${shown(size.rows)} rows were exported in each round; the round before, in the fresh process, grew it by ${mebibytes(warmUpGrowth)}`,
      );
    },
  },
  ['sqlite', 'postgres'],
);
