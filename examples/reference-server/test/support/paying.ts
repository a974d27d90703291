import { DatabaseUnavailable } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { createLedger } from '../../src/ledger/ledger.ts';

// A process that executes transfers tr_<first> to tr_<last>, in either direction, and says each one that is through.
const [where = '', kid = '', first = '0', last = '0', direction = 'up'] = process.argv.slice(2);
const database = where.startsWith('postgres:') ? openPostgres(where, 4) : await openSqlite(where);
const ledger = createLedger(database, Date.now);
const numbers = Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at);
const { signal } = new AbortController();

/** Asks again while the database is busy for longer than the server waits, as the worker does. */
async function execute(number: number): Promise<string> {
  const order = { partner: 'kafe', mode: 'live', amount: 100n, currency: 'HTG', recipientKid: kid } as const;
  const rest = { description: null, reference: null };
  for (;;) {
    try {
      return (await ledger.rail.execute({ id: `tr_${number}`, ...order, ...rest }, { signal })).status;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
  }
}

for (const number of direction === 'up' ? numbers : numbers.reverse()) {
  process.stdout.write(`tr_${number} ${await execute(number)}\n`);
}
await database.close();
