import type { TransferOrder } from '@ostiary/core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '../../src/database/sqlite.ts';
import { createLedger, LedgerError } from '../../src/ledger/ledger.ts';
import { createAccounts } from '../../src/users/accounts.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { expectBalanced } from '../support/books.ts';
import { testDatabase } from '../support/database.ts';
import { anaika, cheap, jean } from '../support/server.ts';

const now = (): number => Date.parse('2026-05-01T12:00:00Z');
const signal = new AbortController().signal;

describe('the ledger', () => {
  let database: SqliteDatabase;
  let ledger: ReturnType<typeof createLedger>;
  let kid: string;

  const order = (changes: Partial<TransferOrder> = {}): TransferOrder => ({
    id: 'tr_1',
    partner: 'kafe',
    mode: 'live',
    amount: 12_500n,
    currency: 'HTG',
    recipientKid: kid,
    description: null,
    reference: null,
    ...changes,
  });
  const execute = (changes?: Partial<TransferOrder>) => ledger.rail.execute(order(changes), { signal });
  beforeEach(async () => {
    ({ database } = await testDatabase());
    const accounts = createAccounts(database, createPasswords(cheap), now);
    ({ kid } = await accounts.create(anaika));
    await accounts.create(jean);
    ledger = createLedger(database, now);
  });

  test('does not pay unknown or blocked users', async () => {
    await ledger.fund('kafe', '200.00', 'HTG');
    const unknown = { status: 'failed', code: 'unknown_recipient', message: expect.any(String) };
    expect(await execute({ recipientKid: 'KNOBODY' })).toEqual(unknown);
    await createAccounts(database, createPasswords(cheap), now).block('anaika');
    expect(await execute({ id: 'tr_2' })).toEqual(unknown);
    expect((await ledger.funds('kafe')).HTG).toBe(20_000n);
  });

  test.each([['0.00'], ['-1.00'], ['1.5'], ['1e3'], ['٣.00'], [' 1.00'], ['1000000000000000.00']])(
    'is not funded with %j',
    async (amount) => {
      await expect(ledger.fund('kafe', amount, 'HTG')).rejects.toThrow(LedgerError);
      expect((await ledger.funds('kafe')).HTG).toBe(0n);
    },
  );

  test('a write that breaks in the middle leaves nothing behind', async () => {
    await ledger.fund('kafe', '200.00', 'HTG');
    database.connection.exec(
      "CREATE TEMP TRIGGER broken BEFORE INSERT ON app_postings BEGIN SELECT RAISE(ABORT, 'broken'); END",
    );
    await expect(execute()).rejects.toThrow('broken');
    expect((await ledger.funds('kafe')).HTG).toBe(20_000n);
    database.connection.exec('DROP TRIGGER temp.broken');
    expect(await execute()).toEqual({ status: 'completed' });
    await expectBalanced(database);
  });
});
