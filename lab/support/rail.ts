import type { PaymentRail } from '@ostiary/core';
import { Pool } from 'pg';

/** Tables in the payment rail's own database: users who were paid, once per transfer. */
export const railTables = `
  CREATE TABLE executions (
    transfer_id text PRIMARY KEY, amount bigint NOT NULL, recipient text NOT NULL, description text
  );
  GRANT ALL ON executions TO ostiary;
`;

/** Time limit for connecting to the payment rail's database and for its responses, in milliseconds. */
const patienceMs = 5_000;

/** Makes a payment rail that keeps its journal in its own database, with the transfer's id as key. */
export function railOn(connectionString: string): PaymentRail {
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: patienceMs,
    statement_timeout: patienceMs,
  });
  // Ignore the event: connections end with the server, and the next execution gets another one.
  pool.on('error', () => undefined);
  return {
    async execute({ id, amount, recipientKid, description }) {
      await pool.query('INSERT INTO executions VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
        id,
        amount,
        recipientKid,
        description,
      ]);
      return { status: 'completed' };
    },
  };
}
