// Minimal server: Koa, and on PostgreSQL one statement for each request, with a pool as large as Ostiary's.
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import Driver from 'better-sqlite3';
import Koa from 'koa';
import { Pool } from 'pg';
import { serve, settings } from '../../../support/processes/control.ts';
import { paths } from '../fixture.ts';

/** Settings of the bare Koa server. */
export interface KoaSettings {
  /** Path of a new SQLite file for the Koa server. */
  readonly file: string;
  /**
   * URL of a new PostgreSQL database, instead of the SQLite file; the Koa server looks up its responses
   * there.
   */
  readonly database: string | null;
  /** JSON response of all routes of the Koa server except payments. */
  readonly answer: string;
  /** Keys of the responses in the database: passports or users. */
  readonly keys: readonly string[];
}

interface Payment {
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly description: string;
}

const { file, database, answer, keys } = settings<KoaSettings>();

function onSqlite() {
  const parsed: unknown = JSON.parse(answer);
  const driver = new Driver(file);
  driver.pragma('journal_mode = WAL');
  driver.exec(`
    CREATE TABLE payments (
      id INTEGER PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, recipient TEXT NOT NULL, description TEXT
    ) STRICT
  `);
  // Set the level after the first write, because SQLite lowers it in WAL mode.
  driver.pragma('synchronous = FULL');
  const insert = driver.prepare(
    'INSERT INTO payments (amount, currency, recipient, description) VALUES (?, ?, ?, ?)',
  );
  return {
    answerTo: (_key: string) => parsed,
    // Outside of a transaction, the statement is a transaction by itself.
    pay: (...values: readonly string[]) => insert.run(...values).lastInsertRowid,
  };
}

async function onPostgres(connectionString: string) {
  const pool = new Pool({ connectionString, max: 10 });
  await pool.query(`
    CREATE TABLE answers (key text COLLATE "C" PRIMARY KEY, json text NOT NULL);
    CREATE TABLE payments (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, amount text NOT NULL, currency text NOT NULL,
      recipient text NOT NULL, description text
    )
  `);
  await pool.query('INSERT INTO answers SELECT key, $2 FROM unnest($1::text[]) AS key', [keys, answer]);
  await pool.query('VACUUM ANALYZE answers');
  // Name the statements, so that they are prepared once for each connection, as Ostiary's are.
  const lookUp = { name: 'look-up', text: 'SELECT json FROM answers WHERE key = $1' };
  const text =
    'INSERT INTO payments (amount, currency, recipient, description) VALUES ($1, $2, $3, $4) RETURNING id';
  return {
    answerTo: async (key: string): Promise<string> =>
      (await pool.query({ ...lookUp, values: [key] })).rows[0].json,
    pay: async (...values: string[]) => (await pool.query({ name: 'insert', text, values })).rows[0].id,
  };
}

const { answerTo, pay } = database === null ? onSqlite() : await onPostgres(database);

function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    request.on('error', reject);
  });
}

const router = new Router();
router.post(paths.verify, async (ctx) => {
  const { token } = await readJson(ctx.req);
  ctx.type = 'json';
  ctx.body = await answerTo(String(token));
});
router.get(paths.user, async (ctx) => {
  ctx.type = 'json';
  ctx.body = await answerTo(String(ctx.params.kid));
});
router.post(paths.payments, async (ctx) => {
  const payment = (await readJson(ctx.req)) as unknown as Payment;
  const { amount, currency, recipient, description } = payment;
  const id = await pay(amount, currency, recipient.kid, description);
  ctx.status = 201;
  ctx.body = { id: String(id), status: 'pending', ...payment };
});

const app = new Koa();
app.use(router.routes());
await serve(app.callback());
