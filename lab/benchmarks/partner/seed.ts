import Driver from 'better-sqlite3';
import { Client } from 'pg';
import { exportDay, partner, users } from './fixture.ts';

const dayMs = 86_400_000;

/** The same rows in PostgreSQL. */
export async function seedTransfersOnPostgres(connectionString: string, count: number): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query(
    `
      INSERT INTO ostiary.transfers (
        id, partner, mode, status, amount, currency, recipient_kid, description, reference, metadata,
        failure_code, failure_message, created_at, updated_at, completed_at
      )
      SELECT
        'tr_' || lpad(to_hex(time), 16, '0') || lpad(to_hex(i), 16, '0'), $1, 'live',
        CASE WHEN i % 20 = 0 THEN 'failed' ELSE 'completed' END, 1000 + i % 100000,
        CASE WHEN i % 3 = 0 THEN 'USD' ELSE 'HTG' END, 'KID-' || lpad((1 + i % 1000)::text, 4, '0'), 'Invoice',
        'order/' || i, NULL, CASE WHEN i % 20 = 0 THEN 'insufficient_funds' END,
        CASE WHEN i % 20 = 0 THEN 'The balance does not cover the amount.' END, time, time + 2000,
        CASE WHEN i % 20 <> 0 THEN time + 2000 END
      FROM (
        SELECT i, $2::bigint + (i::bigint * $3::bigint) / $4::bigint AS time FROM generate_series(0, $4::integer - 1) AS i
      ) AS rows
    `,
    [partner, Date.parse(exportDay), dayMs - 10_000, count],
  );
  await client.query('VACUUM ANALYZE ostiary.transfers');
  await client.end();
}

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
