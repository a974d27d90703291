import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { proveBackup } from './backup.ts';
import { sqliteSource } from './backup-sqlite.ts';
import { prove } from './prove.ts';

// Reduced size of `npm run proof:operations`.
const rates = { userinfo: 6, exchange: 1, verify: 1, payment: 2 };

it.concurrent('rotates every key and secret, and replaces every process, without a request that fails', async () => {
  const claims = await prove({ workers: 1, rates, overlapSeconds: 3, quietSeconds: 1 });
  expect(problemsOf(claims)).toEqual([]);
}, 300_000);

it.concurrent('restores a backup of a file that was made while the server wrote to it', async () => {
  await using ends = new AsyncDisposableStack();
  expect((await proveBackup(await sqliteSource(ends), rates)).problems).toEqual([]);
}, 120_000);
