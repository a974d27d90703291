import type { TransferOrder } from '@ostiary/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrations.ts';
import { openSqlite, type SqliteDatabase } from '../../src/database/sqlite.ts';
import { createLedger, LedgerError } from '../../src/ledger/ledger.ts';
import { createAccounts } from '../../src/users/accounts.ts';
import { createDirectory } from '../../src/users/directory.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { expectBalanced } from '../support/books.ts';
import { testDatabase } from '../support/database.ts';
import { anaika, cheap, jean, temporaryFolder } from '../support/server.ts';

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

  test('pays nobody who is unknown or blocked', async () => {
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

test('balances of a database from before the ledger become opening balances', async () => {
  const database = await openSqlite(`${await temporaryFolder()}/old.sqlite`);
  await migrate(database, 0, 2);
  const insert = database.connection.prepare(
    `INSERT INTO app_users VALUES (@sub, @sub, @sub, @sub, 'Name', NULL, 'member', 'HT', 0, 'pending', @htg, @usd, 0, 'new', 'hash', 7, NULL)`,
  );
  insert.run({ sub: 'rich', htg: 99_999_999_999_999_999n, usd: 0n });
  insert.run({ sub: 'poor', htg: 0n, usd: 0n });
  insert.run({ sub: 'both', htg: 5n, usd: 12_345n });
  await migrate(database, 0);
  const directory = createDirectory(database, now);
  const balance = async (sub: string) => {
    const user = await directory.find(sub, new Set(['wallet:balance']));
    return [user?.htgBalance, user?.usdBalance];
  };
  expect(await balance('rich')).toEqual(['999999999999999.99', '0.00']);
  expect(await balance('poor')).toEqual(['0.00', '0.00']);
  expect(await balance('both')).toEqual(['0.05', '123.45']);
  await expectBalanced(database);
  await database.close();
});
