// Minimal userinfo: Koa, and one prepared statement for each request, with a pool as large as Ostiary's.
import { hash } from 'node:crypto';
import Koa from 'koa';
import { Pool } from 'pg';
import { serve, settings } from '../../../support/processes/control.ts';

const { database, tokens, json } = settings<{
  readonly database: string;
  /** Access tokens that the look-up server accepts. */
  readonly tokens: readonly string[];
  /** Body of the response to each access token. */
  readonly json: string;
}>();
const digestOf = (token: string) => hash('sha256', token, 'buffer');
const pool = new Pool({ connectionString: database, max: 10 });
await pool.query('CREATE TABLE tokens (digest bytea PRIMARY KEY, json text NOT NULL)');
await pool.query('INSERT INTO tokens SELECT digest, $2 FROM unnest($1::bytea[]) AS digest', [
  tokens.map(digestOf),
  json,
]);
await pool.query('VACUUM ANALYZE tokens');

const app = new Koa();
app.use(async (ctx) => {
  const token = ctx.get('authorization').replace('Bearer ', '');
  const text = 'SELECT json FROM tokens WHERE digest = $1';
  const { rows } = await pool.query({ name: 'look-up', text, values: [digestOf(token)] });
  if (rows.length === 0) ctx.throw(401);
  ctx.type = 'json';
  ctx.body = rows[0].json;
});

await serve(app.callback());
