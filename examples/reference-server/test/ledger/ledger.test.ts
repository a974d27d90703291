import type { TransferOrder } from '@ostiary/core';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrations.ts';
import { openSqlite, type SqliteDatabase } from '../../src/database/sqlite.ts';
import { createLedger, type Ledger, LedgerError } from '../../src/ledger/ledger.ts';
import { formatMoney } from '../../src/ledger/money.ts';
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
  let file: string;
  let ledger: Ledger;
  let kid: string;
  let sub: string;

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
  const balances = async () => {
    const user = await createDirectory(database, now).find(sub, new Set(['wallet:balance']));
    return [user?.htgBalance, user?.usdBalance];
  };

  beforeEach(async () => {
    ({ database, file } = await testDatabase());
    const accounts = createAccounts(database, createPasswords(cheap), now);
    ({ kid, sub } = await accounts.create({ ...anaika, usdBalance: '3.00' }));
    await accounts.create(jean);
    ledger = createLedger(database, now);
  });

  test('refuses what the funds do not cover, and stays with it when funds come later', async () => {
    await ledger.fund('kafe', '124.99', 'HTG');
    await ledger.fund('kafe', '500.00', 'USD');
    await ledger.fund('other', '500.00', 'HTG');
    const refused = { status: 'failed', code: 'insufficient_funds', message: expect.any(String) };
    expect(await execute()).toEqual(refused);
    await ledger.fund('kafe', '0.01', 'HTG');
    expect(await execute()).toEqual(refused);
    expect(await execute({ id: 'tr_2' })).toEqual({ status: 'completed' });
    expect(await ledger.funds('kafe')).toEqual({ HTG: 0n, USD: 50_000n });
    expect(await balances()).toEqual(['125.00', '3.00']);
    await expectBalanced(database);
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

  test('does what a simple model does, with repetitions and over two connections', async () => {
    const { database: other } = await testDatabase(file);
    const ledgers = [ledger, createLedger(other, now)] as const;
    const accounts = createAccounts(database, createPasswords(cheap), now);
    const recipients = (await accounts.list()).map((account) => account.kid);
    const currency = fc.constantFrom('HTG' as const, 'USD' as const);
    const amount = fc.bigInt({ min: 1n, max: 50_000n });
    const operation = fc.oneof(
      fc.record({ what: fc.constant('fund' as const), partner: fc.constantFrom('a', 'b'), amount, currency }),
      fc.record({
        what: fc.constant('pay' as const),
        partner: fc.constantFrom('a', 'b'),
        amount,
        currency,
        recipient: fc.constantFrom(...recipients, 'KNOBODY'),
        // Few ids, so that many are used again, also with other contents.
        id: fc.integer({ min: 0, max: 12 }),
        via: fc.constantFrom(0, 1),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        run += 1;
        const funds = new Map<string, bigint>();
        const decided = new Map<string, string>();
        for (const step of operations) {
          const partner = `${step.partner}-${run}`;
          const account = `${partner} ${step.currency}`;
          const available = funds.get(account) ?? 0n;
          if (step.what === 'fund') {
            await ledgers[0].fund(partner, formatMoney(step.amount), step.currency);
            funds.set(account, available + step.amount);
            continue;
          }
          const id = `tr_${run}_${step.id}`;
          const expected =
            decided.get(id) ??
            (step.recipient === 'KNOBODY'
              ? 'unknown_recipient'
              : available < step.amount
                ? 'insufficient_funds'
                : 'completed');
          if (!decided.has(id) && expected === 'completed') funds.set(account, available - step.amount);
          decided.set(id, expected);
          const given = order({
            id,
            partner,
            amount: step.amount,
            currency: step.currency,
            recipientKid: step.recipient,
          });
          const results = await Promise.all(
            Array.from({ length: step.times }, (_, at) =>
              (ledgers[(step.via + at) % 2] ?? ledger).rail.execute(given, { signal }),
            ),
          );
          for (const result of results) {
            expect(result.status === 'failed' ? result.code : result.status).toBe(expected);
          }
        }
        for (const [account, left] of funds) {
          const [partner = '', name] = account.split(' ');
          expect((await ledger.funds(partner))[name === 'USD' ? 'USD' : 'HTG']).toBe(left);
        }
        await expectBalanced(database);
      }),
      { numRuns: 25 },
    );
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
