import { expect, onTestFinished, test } from 'vitest';
import { openPool } from '../src/opened-pool.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

test('a pool outlives the end of its idle connections, without a listener of the host', async () => {
  const pool = openPool(server.url, 1_500);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  const { rows } = await client.query({ text: 'SELECT pg_backend_pid() AS pid' });
  client.release();
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
  // An event without a listener would be an error of the whole test run.
  await server.pool.query('SELECT pg_terminate_backend($1)', [Reflect.get(Object(rows[0]), 'pid')]);
  await expect.poll(() => pool.totalCount).toBe(0);
  const next = await pool.connect();
  expect((await next.query({ text: 'SELECT 1 AS one' })).rows).toEqual([{ one: 1 }]);
  next.release();
});
