import Driver from 'better-sqlite3';
import { exportDay, partner, users } from './fixture.ts';

const dayMs = 86_400_000;

/** Writes final transfers of the day straight into a database that Ostiary has created. One in twenty failed. */
export function seedTransfers(file: string, count: number): void {
  const database = new Driver(file);
  database.pragma('synchronous = OFF');
  const insert = database.prepare(`
    INSERT INTO transfers (
      id, partner, mode, status, amount, currency, recipient_kid, description, reference, metadata,
      failure_code, failure_message, created_at, updated_at, completed_at
    )
    VALUES (?, ?, 'live', ?, ?, ?, ?, 'Invoice', ?, NULL, ?, ?, ?, ?, ?)
  `);
  const from = Date.parse(exportDay);
  const seed = database.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      // Evenly over the day; several share a millisecond.
      const time = from + Math.floor((index * (dayMs - 10_000)) / count);
      const failed = index % 20 === 0;
      const id = `tr_${time.toString(16).padStart(16, '0')}${index.toString(16).padStart(16, '0')}`;
      insert.run(
        id,
        partner,
        failed ? 'failed' : 'completed',
        1_000 + (index % 100_000),
        index % 3 === 0 ? 'USD' : 'HTG',
        users[index % users.length]?.kid,
        `order/${index}`,
        failed ? 'insufficient_funds' : null,
        failed ? 'The balance does not cover the amount.' : null,
        time,
        time + 2_000,
        failed ? null : time + 2_000,
      );
    }
  });
  seed();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}
