/**
 * Measures Ostiary on SQLite against a bare oidc-provider with a Map, in processes of their own that take turns. See README.md.
 */
import { beginBenchmark } from '../../support/measure/benchmark.ts';
import { informationOf, machine, type Row, ratioTable, rowOf } from '../../support/measure/report.ts';
import { median } from '../../support/measure/statistics.ts';
import { startPostgres } from '../../support/postgres/as-installed.ts';
import { measureExchange } from './measurements/exchange.ts';
import { measureMemory } from './measurements/memory.ts';
import { exchangeOnPostgres, userinfoOnPostgres } from './measurements/postgres.ts';
import { measureStart } from './measurements/start.ts';
import { measureUserinfo } from './measurements/userinfo.ts';
import { type TargetName, targets } from './targets.ts';

const { quick, strict, only, storages, flags } = beginBenchmark(import.meta.dirname, {
  only: Object.keys(targets),
  storage: ['sqlite', 'postgres'],
});

const size = quick
  ? {
      rounds: 3,
      userinfo: 6_000,
      exchangeRounds: 3,
      exchange: 300,
      starts: 3,
      memoryRounds: 1,
      memoryCalls: 5_000,
    }
  : {
      rounds: 9,
      userinfo: 30_000,
      exchangeRounds: 21,
      exchange: 2_000,
      starts: 9,
      memoryRounds: 3,
      memoryCalls: 100_000,
    };

const rows: Row[] = [];
const notes: string[] = [];

const measurements: { readonly [Name in TargetName]: () => Promise<void> } = {
  async userinfo() {
    const rates = await measureUserinfo({ rounds: size.rounds, perRound: size.userinfo, flags });
    rows.push(rowOf(targets.userinfo, rates));
    const share = median(rates.ostiary.map((rate, round) => rate / (rates.raw[round] ?? Number.NaN)));
    const raw = Math.round(median(rates.raw)).toLocaleString('en-US');
    notes.push(
      `userinfo reaches ${(share * 100).toFixed(0)} % of a raw node:http server that answers the same bytes (${raw}/s)`,
    );
  },
  async exchange() {
    rows.push(
      rowOf(
        targets.exchange,
        await measureExchange({ rounds: size.exchangeRounds, perRound: size.exchange, flags }),
      ),
    );
  },
  async start() {
    rows.push(rowOf(targets.start, await measureStart({ rounds: size.starts, flags })));
  },
  async memory() {
    const { memoryRounds: rounds, memoryCalls: calls } = size;
    rows.push(rowOf(targets.memory, await measureMemory({ rounds, calls, flags })));
  },
};

/** What is asked of SQLite, on PostgreSQL: nothing is asked of these figures. */
async function onPostgres(): Promise<void> {
  console.error('measuring on PostgreSQL …');
  const postgres = await startPostgres();
  const information: Row[] = [];
  if (only.has('userinfo')) {
    const rates = await userinfoOnPostgres(postgres, {
      rounds: size.rounds,
      perRound: size.userinfo / 3,
      flags,
    });
    information.push(informationOf({ ...targets.userinfo, name: 'userinfo, beside one look-up' }, rates));
  }
  if (only.has('exchange')) {
    const rates = await exchangeOnPostgres(postgres, {
      rounds: size.rounds,
      perRound: size.exchange,
      flags,
    });
    information.push(
      informationOf({ ...targets.exchange, name: 'code exchange, beside oidc-provider in memory' }, rates),
    );
  }
  await postgres.stop();
  console.log(`\nOn PostgreSQL 18, for information:\n\n${ratioTable(information)}`);
}

console.log(machine());
for (const [name, measure] of Object.entries(measurements)) {
  if (!only.has(name) || !storages.has('sqlite')) continue;
  console.error(`measuring ${name} …`);
  await measure();
}
if (rows.length > 0) console.log(`\n${ratioTable(rows)}\n`);
for (const note of notes) console.log(note);
if (storages.has('postgres') && (only.has('userinfo') || only.has('exchange'))) await onPostgres();
// Not `process.exitCode`, which the package of PostgreSQL overwrites when a process ends by itself.
process.exit(strict && rows.some(({ passed }) => !passed) ? 1 : 0);
