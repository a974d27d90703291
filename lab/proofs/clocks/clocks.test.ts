import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { simulate } from './simulate.ts';
import { onPostgres, onSqlite } from './storages.ts';

// Reduced size of `npm run proof:clocks`.
const small = { seed: 3, ticks: 300 };

it('work is done, limits open and tokens end while the clock of the machine is set, on SQLite', async () => {
  await using ends = new AsyncDisposableStack();
  expect(problemsOf(await simulate({ ...onSqlite(ends), ...small }))).toEqual([]);
});

it('the same while the clock of the database is set and processes are suspended, on PostgreSQL', async () => {
  await using ends = new AsyncDisposableStack();
  const newPostgres = await onPostgres(ends);
  expect(problemsOf(await simulate({ ...(await newPostgres()), ...small }))).toEqual([]);
});
