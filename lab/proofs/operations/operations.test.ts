import { expect, it } from 'vitest';
import { proveBackup } from './backup.ts';
import { sqliteSource } from './backup-sqlite.ts';
import { prove, violationsOf } from './run.ts';

// The small size of `npm run proof:operations`.
const rates = { userinfo: 6, exchange: 1, verify: 1, payment: 2 };

it.concurrent('rotates every key and secret, and replaces every process, without a request that fails', async () => {
  const lines = await prove({
    ...{ workers: 1, rates, overlapSeconds: 3, quietSeconds: 1 },
    isShort: true,
  });
  expect(violationsOf(lines)).toEqual([]);
  const asked = lines.flatMap(({ requests }) => requests ?? []);
  expect(asked).toHaveLength(3);
  // Somebody asked while it was done.
  expect(Math.min(...asked)).toBeGreaterThan(0);
}, 300_000);

it.concurrent('restores a backup of a file that was made while the server wrote to it', async () => {
  const sqlite = await sqliteSource();
  try {
    const { failures, found, holds } = await proveBackup(sqlite.source, rates);
    expect(failures).toEqual([]);
    expect(holds, found).toBe(true);
  } finally {
    await sqlite.remove();
  }
}, 120_000);
