import Koa from 'koa';
import { Pool } from 'pg';
import { bodyOf } from '../http.ts';
import { serve, settings } from '../processes/control.ts';

/** What it answers, and for which keys: a token, or the end of a path. */
export interface KnownAnswers {
  readonly keys: readonly string[];
  readonly json: string;
}

// The least that could be done: Koa, a pool of the size that Ostiary's has, and one statement for each request, a look-up
// by key for what reads and an INSERT that is committed for what writes.
const { database } = settings<{ /** Of its own. */ readonly database: string }>();
const pool = new Pool({ connectionString: database, max: 10 });
await pool.query(`
  CREATE TABLE answers (key text COLLATE "C" PRIMARY KEY, json text NOT NULL);
  CREATE TABLE payments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, amount text NOT NULL, currency text NOT NULL,
    recipient text NOT NULL, description text
  )
`);

async function pay(payment: Record<string, unknown>) {
  const { amount, currency, recipient, description } = payment;
  const { rows } = await pool.query(
    'INSERT INTO payments (amount, currency, recipient, description) VALUES ($1, $2, $3, $4) RETURNING id',
    [amount, currency, (recipient as { readonly kid: string }).kid, description],
  );
  return { id: rows[0].id, status: 'pending', ...payment };
}

const app = new Koa();
app.use(async (ctx) => {
  const body = ctx.method === 'POST' ? JSON.parse((await bodyOf(ctx.req)).toString()) : {};
  if (ctx.path.endsWith('/payments')) {
    ctx.status = 201;
    ctx.body = await pay(body);
    return;
  }
  const bearer = ctx.get('authorization').replace('Bearer ', '');
  const key = body.token ?? (bearer === '' ? ctx.path.split('/').at(-1) : bearer);
  const { rows } = await pool.query('SELECT json FROM answers WHERE key = $1', [key]);
  ctx.type = 'json';
  ctx.body = rows[0].json;
});

await serve(app.callback(), {
  async learn({ keys, json }: KnownAnswers): Promise<void> {
    await pool.query('INSERT INTO answers SELECT key, $2 FROM unnest($1::text[]) AS key', [keys, json]);
    await pool.query('VACUUM ANALYZE answers');
  },
  /** Whether an answered payment is on the disk. */
  async isDurable(): Promise<boolean> {
    const { rows } = await pool.query(`
      SELECT bool_and(setting = 'on') AS durable FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')
    `);
    return rows[0].durable;
  },
});
