// Minimal export on PostgreSQL: Koa, and pages of SELECT by key, as large as Ostiary's, with a pool of the
// same size.
import { Readable } from 'node:stream';
import Koa from 'koa';
import { Pool } from 'pg';
import { serve, settings } from '../../../support/processes/control.ts';
import { partner } from '../fixture.ts';

const { database } = settings<{
  /** URL of a PostgreSQL database with the tables of Ostiary. */
  readonly database: string;
}>();
const dayMs = 86_400_000;
const pageRows = 256;
const pool = new Pool({ connectionString: database, max: 10 });
const text = `
  SELECT id, reference, status, (amount / 100.0)::numeric(20, 2)::text AS amount, currency, recipient_kid AS "recipientKid",
    description, failure_code AS "failureCode", created_at AS "createdAt", completed_at AS "completedAt", updated_at AS "updatedAt"
  FROM ostiary.transfers
  WHERE partner = $1 AND mode = 'live' AND status <> 'pending' AND (updated_at, id) > ($2, $3) AND updated_at < $4
  ORDER BY updated_at, id LIMIT ${pageRows}
`;

const iso = (time: string | null) => time && new Date(Number(time)).toISOString();

/**
 * Lines of a Koa export, in the form of Ostiary's export. The summary leaves out digest and totals, as a
 * minimal export does.
 */
async function* linesOf(day: string): AsyncGenerator<string> {
  const from = Date.parse(day);
  let [time, id, written] = [String(from), '', 0];
  for (;;) {
    const { rows } = await pool.query({ name: 'page', text, values: [partner, time, id, from + dayMs] });
    let lines = '';
    for (const row of rows) {
      const { createdAt, completedAt, updatedAt } = row;
      const times = { createdAt: iso(createdAt), completedAt: iso(completedAt), updatedAt: iso(updatedAt) };
      lines += `${JSON.stringify({ ...row, ...times })}\n`;
    }
    yield lines;
    written += rows.length;
    if (rows.length < pageRows) break;
    ({ updatedAt: time, id } = rows[rows.length - 1]);
  }
  yield `${JSON.stringify({ summary: { rows: written } })}\n`;
}

const app = new Koa();
app.use((ctx) => {
  ctx.type = 'application/x-ndjson';
  ctx.body = Readable.from(linesOf(String(ctx.query.date)));
});
await serve(app.callback());
