import Driver from 'better-sqlite3';
import { Client } from 'pg';
import { users } from '../../support/measure/directory.ts';
import { exportDay, partner } from './fixture.ts';

const dayMs = 86_400_000;
const columns = [
  ...['id', 'partner', 'mode', 'status', 'amount', 'currency', 'recipient_kid', 'description', 'reference'],
  ...['failure_code', 'failure_message', 'created_at', 'updated_at', 'completed_at'],
];

/**
 * Returns a succeeded or failed transfer of the exported day. Transfers are spread evenly over the day,
 * except its last ten seconds. One in twenty failed.
 */
function transfer(index: number, count: number) {
  const time = Date.parse(exportDay) + Math.floor((index * (dayMs - 10_000)) / count);
  const failed = index % 20 === 0;
  return {
    id: `tr_${time.toString(16).padStart(16, '0')}${index.toString(16).padStart(16, '0')}`,
    partner,
    mode: 'live',
    status: failed ? 'failed' : 'completed',
    amount: 1_000 + (index % 100_000),
    currency: index % 3 === 0 ? 'USD' : 'HTG',
    recipient_kid: users[index % users.length]?.kid,
    description: 'Invoice',
    reference: `order/${index}`,
    failure_code: failed ? 'insufficient_funds' : null,
    failure_message: failed ? 'The balance does not cover the amount.' : null,
    created_at: time,
    updated_at: time + 2_000,
    completed_at: failed ? null : time + 2_000,
  };
}

/** Writes transfers directly into a SQLite file that Ostiary has created. */
export function seedTransfers(file: string, count: number): void {
  const database = new Driver(file);
  database.pragma('synchronous = OFF');
  const values = columns.map((column) => `@${column}`);
  const insert = database.prepare(`INSERT INTO transfers (${columns}) VALUES (${values})`);
  const seed = database.transaction(() => {
    for (let index = 0; index < count; index += 1) insert.run(transfer(index, count));
  });
  seed();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

const batch = 5_000;

/** Writes transfers directly into PostgreSQL tables that Ostiary has created. */
export async function seedTransfersOnPostgres(connectionString: string, count: number): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  for (let from = 0; from < count; from += batch) {
    const length = Math.min(batch, count - from);
    const rows = Array.from({ length }, (_, index) => transfer(from + index, count));
    await client.query(
      `INSERT INTO ostiary.transfers (${columns})
       SELECT ${columns} FROM json_populate_recordset(NULL::ostiary.transfers, $1)`,
      [JSON.stringify(rows)],
    );
  }
  await client.query('VACUUM ANALYZE ostiary.transfers');
  await client.end();
}
