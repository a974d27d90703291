// Minimal export: the rows of a day are read and serialised, and the result is discarded.
import Driver from 'better-sqlite3';
import { obey, settings } from '../../../support/processes/control.ts';
import { partner } from '../fixture.ts';

const { file } = settings<{
  /** Path of a SQLite file with the tables of Ostiary. */
  readonly file: string;
}>();
const dayMs = 86_400_000;
const rowsOfDay = new Driver(file, { readonly: true }).prepare(`
  SELECT id, reference, status, amount, currency, recipient_kid AS "recipientKid", description,
    failure_code AS "failureCode", created_at AS "createdAt", completed_at AS "completedAt", updated_at AS "updatedAt"
  FROM transfers
  WHERE partner = ? AND mode = 'live' AND status <> 'pending' AND updated_at >= ? AND updated_at < ?
  ORDER BY updated_at, id
`);

obey({
  /** Returns the number of rows that a bare loop exports per second. */
  exportDay(day: string): number {
    const from = Date.parse(day);
    const started = performance.now();
    let count = 0;
    let bytes = 0;
    for (const row of rowsOfDay.iterate(partner, from, from + dayMs)) {
      bytes += JSON.stringify(row).length + 1;
      count += 1;
    }
    if (bytes <= count) throw new Error('there are no rows');
    return (count * 1000) / (performance.now() - started);
  },
});
