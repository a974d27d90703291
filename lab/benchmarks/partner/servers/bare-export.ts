// The least that an export could be: the rows of a day, read and written out for nobody.
import Driver from 'better-sqlite3';
import { Client } from 'pg';
import { obey, settings } from '../../../support/processes/control.ts';
import { partner } from '../fixture.ts';

const { file, database } = settings<{
  /** The file that Ostiary exports from. */
  readonly file: string;
  /** Or the database of PostgreSQL. */
  readonly database: string | null;
}>();

const dayMs = 86_400_000;
const pageSize = 1_000;
const fields = `
  id, reference, status, amount, currency, recipient_kid AS "recipientKid", description,
  failure_code AS "failureCode", created_at AS "createdAt", completed_at AS "completedAt", updated_at AS "updatedAt"
`;

interface Row {
  readonly updatedAt: number | string;
  readonly id: string;
}

/** All rows of the day, with one cursor. */
async function* sqlitePages(from: number): AsyncGenerator<Iterable<Row>> {
  const rows = new Driver(file, { readonly: true }).prepare<[string, number, number], Row>(`
    SELECT ${fields} FROM transfers
    WHERE partner = ? AND mode = 'live' AND status <> 'pending' AND updated_at >= ? AND updated_at < ?
    ORDER BY updated_at, id
  `);
  yield rows.iterate(partner, from, from + dayMs);
}

async function* postgresPages(from: number): AsyncGenerator<Iterable<Row>> {
  const client = new Client({ connectionString: database ?? '' });
  await client.connect();
  const text = `
    SELECT ${fields} FROM ostiary.transfers
    WHERE partner = $1 AND mode = 'live' AND status <> 'pending' AND (updated_at, id) > ($2, $3) AND updated_at < $4
    ORDER BY updated_at, id LIMIT ${pageSize}
  `;
  let last: Row | undefined = { updatedAt: from, id: '' };
  while (last !== undefined) {
    const values: unknown[] = [partner, last.updatedAt, last.id, from + dayMs];
    const { rows }: { rows: Row[] } = await client.query<Row>({ name: 'page', text, values });
    yield rows;
    last = rows.at(-1);
  }
  await client.end();
}

obey({
  /** How many rows there were in a second. */
  async exportDay(day: string): Promise<number> {
    const from = Date.parse(day);
    const started = performance.now();
    let count = 0;
    let bytes = 0;
    for await (const page of database === null ? sqlitePages(from) : postgresPages(from)) {
      for (const row of page) {
        bytes += JSON.stringify(row).length + 1;
        count += 1;
      }
    }
    if (bytes <= count) throw new Error('there are no rows');
    return (count * 1000) / (performance.now() - started);
  },
});
