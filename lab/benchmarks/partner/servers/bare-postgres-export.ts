import { Client } from 'pg';
import { serve, settings } from '../../../support/measure/control.ts';
import { partner } from '../fixture.ts';

/** Parameters of the bare export on PostgreSQL. */
export interface BarePostgresExportSettings {
  readonly port: number;
  /** The database that Ostiary exports from. */
  readonly database: string;
}

const { port, database } = settings<BarePostgresExportSettings>();
const client = new Client({ connectionString: database });
await client.connect();

const pageSize = 1_000;

interface Position {
  readonly updatedAt: string;
  readonly id: string;
}

async function pageAfter({ updatedAt, id }: Position, end: number): Promise<Position[]> {
  const { rows } = await client.query<Position>({
    name: 'page',
    text: `
      SELECT id, reference, status, amount, currency, recipient_kid AS "recipientKid", description,
        failure_code AS "failureCode", created_at AS "createdAt", completed_at AS "completedAt",
        updated_at AS "updatedAt"
      FROM ostiary.transfers
      WHERE partner = $1 AND mode = 'live' AND status <> 'pending'
        AND (updated_at, id) > ($2, $3) AND updated_at < $4
      ORDER BY updated_at, id LIMIT ${pageSize}
    `,
    values: [partner, updatedAt, id, end],
  });
  return rows;
}

serve((_request, response) => response.end(), port, {
  /** Reads and writes out every row of a day, for nobody, and answers how many rows there were in a second. */
  async exportDay(day: string): Promise<number> {
    const from = Date.parse(day);
    const started = performance.now();
    let count = 0;
    let bytes = 0;
    let position: Position | undefined = { updatedAt: String(from), id: '' };
    while (position !== undefined) {
      const rows: Position[] = await pageAfter(position, from + 86_400_000);
      for (const row of rows) bytes += JSON.stringify(row).length + 1;
      count += rows.length;
      position = rows.at(-1);
    }
    if (bytes <= count) throw new Error('there are no rows');
    return (count * 1000) / (performance.now() - started);
  },
});
