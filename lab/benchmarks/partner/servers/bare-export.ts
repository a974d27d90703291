import Driver from 'better-sqlite3';
import { serve, settings } from '../../../support/measure/control.ts';
import { partner } from '../fixture.ts';

/** Parameters of the bare export. */
export interface BareExportSettings {
  readonly port: number;
  /** The file that Ostiary exports from. */
  readonly file: string;
}

const { port, file } = settings<BareExportSettings>();

const database = new Driver(file, { readonly: true });
const rows = database.prepare<[string, number, number]>(`
  SELECT id, reference, status, amount, currency, recipient_kid AS recipientKid, description,
    failure_code AS failureCode, created_at AS createdAt, completed_at AS completedAt, updated_at AS updatedAt
  FROM transfers
  WHERE partner = ? AND mode = 'live' AND status <> 'pending' AND updated_at >= ? AND updated_at < ?
  ORDER BY updated_at, id
`);

serve((_request, response) => response.end(), port, {
  /** Reads and writes out every row of a day, for nobody, and answers how many rows there were in a second. */
  exportDay(day: string): number {
    const from = Date.parse(day);
    const started = performance.now();
    let count = 0;
    let bytes = 0;
    for (const row of rows.iterate(partner, from, from + 86_400_000)) {
      bytes += JSON.stringify(row).length + 1;
      count += 1;
    }
    if (bytes <= count) throw new Error('there are no rows');
    return (count * 1000) / (performance.now() - started);
  },
});
