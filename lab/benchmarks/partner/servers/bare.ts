import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import Driver from 'better-sqlite3';
import Koa from 'koa';
import { serve, settings } from '../../../support/processes/control.ts';
import { paths } from '../fixture.ts';

const { file, answer } = settings<{
  /** A SQLite file of its own. */
  readonly file: string;
  /** The JSON that verify or user lookup answers. */
  readonly answer: unknown;
}>();

const database = new Driver(file);
database.pragma('journal_mode = WAL');
database.exec(`
  CREATE TABLE payments (
    id INTEGER PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, recipient TEXT NOT NULL, description TEXT
  ) STRICT
`);
// After the first write: SQLite lowers the level in WAL mode.
database.pragma('synchronous = FULL');
const insert = database.prepare(
  'INSERT INTO payments (amount, currency, recipient, description) VALUES (?, ?, ?, ?)',
);

function readJson(request: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    request.on('error', reject);
  });
}

interface Payment {
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly description: string;
}

const router = new Router();
router.post(paths.verify, async (ctx) => {
  await readJson(ctx.req);
  ctx.body = answer;
});
router.get(paths.user, (ctx) => {
  ctx.body = answer;
});
router.post(paths.payments, async (ctx) => {
  const payment = (await readJson(ctx.req)) as Payment;
  const { amount, currency, recipient, description } = payment;
  // A statement on its own is a transaction of its own.
  const { lastInsertRowid } = insert.run(amount, currency, recipient.kid, description);
  ctx.status = 201;
  ctx.body = { id: String(lastInsertRowid), status: 'pending', ...payment };
});

const app = new Koa();
app.use(router.routes());
await serve(app.callback());
