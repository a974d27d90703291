import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '../../src/database/sqlite.ts';
import { formatMoney } from '../../src/ledger/money.ts';
import { type Accounts, createAccounts } from '../../src/users/accounts.ts';
import { type NewUser, newUserSchema } from '../../src/users/input.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { testDatabase } from '../support/database.ts';
import { anaika, cheap, jean } from '../support/server.ts';

describe('accounts', () => {
  let database: SqliteDatabase;
  let accounts: Accounts;
  const now = Date.parse('2026-05-01T12:00:00Z');

  beforeEach(async () => {
    ({ database } = await testDatabase());
    accounts = createAccounts(database, createPasswords(cheap), () => now);
    await accounts.create(anaika);
  });

  test('get unique ids', async () => {
    const other = await accounts.create(jean);
    const first = await accounts.get('anaika');
    expect(first?.sub).toMatch(/^usr_[0-9a-f]{20}$/);
    expect(first?.kid).toMatch(/^K[0-9A-HJKMNP-TV-Z]{12}$/);
    expect(other.sub).not.toBe(first?.sub);
    expect((await accounts.getBySub(other.sub))?.handle).toBe('jean');
  });

  test.each([
    [{ handle: 'two words' }, 'handle must be'],
    [{ handle: 'anаika' }, 'handle must be'],
    [{ password: 'short' }, 'password must have at least 10'],
    [{ phone: '37000003' }, 'phone must be a number'],
    [{ phone: '+509 3700 0003' }, 'phone must be a number'],
    [{ email: 'anaika' }, 'email must be an e-mail address'],
    [{ email: 'a@b.ht\r\nBcc: eve@example.com' }, 'email must be an e-mail address'],
    [{ email: `${'a'.repeat(64)}@${'b'.repeat(186)}.example` }, 'email must be an e-mail address'],
    [{ country: 'Haiti' }, 'country must be'],
    [{ name: ' ' }, 'name must not be empty'],
    [{ name: 'n'.repeat(201) }, 'name must have at most 200 characters'],
    [{ kycTier: 4 }, 'kycTier must be a whole number from 0 to 3'],
    [{ trustScore: -1 }, 'trustScore must be a whole number from 0 to 100'],
    [{ trustScore: 1.5 }, 'trustScore must be a whole number from 0 to 100'],
    [{ htgBalance: '12.5' }, 'htgBalance must be a decimal'],
    [{ usdBalance: '-1.00' }, 'usdBalance must be a decimal'],
    [{ avatarUrl: 'javascript:alert(1)' }, 'avatarUrl must be an http or https URL'],
  ])('refuse %j', async (changes, message) => {
    await expect(accounts.create({ ...jean, ...changes })).rejects.toThrow(message);
    expect(await accounts.list()).toHaveLength(1);
  });

  test('describe every wrong field', async () => {
    const fields = Object.keys(newUserSchema.shape);
    const wrong: unknown[] = [undefined, null, true, -1, 1.5, Number.NaN, 1e20, '', ' ', 'x'.repeat(3_000)];
    wrong.push([], [null], [{ type: '' }], {}, () => 'x', new Date(Number.NaN));
    let refused = 0;
    for (const field of [...fields, 'surplus'])
      for (const value of wrong) {
        const given = { ...jean, [field]: value } as NewUser;
        const message = await accounts.create(given).then(
          () => '',
          (error: Error) => error.message,
        );
        await database.write((transaction) =>
          transaction.run("DELETE FROM app_users WHERE handle = 'jean'", {}),
        );
        if (message === '' || /belongs to another/.test(message)) continue;
        refused += 1;
        expect.soft(message, field).toMatch(new RegExp(`^${field}|^is of the wrong kind`));
        expect.soft(message, field).not.toMatch(/Invalid|xpected|received|Unrecognized|Too (big|small)/);
      }
    expect(refused).toBeGreaterThan(150);
  });

  test('a password that changes while it is checked does not count', async () => {
    const check = accounts.verify('anaika', anaika.password);
    database.connection.prepare("UPDATE app_users SET password_hash = 'scrypt$other'").run();
    expect(await check).toBeNull();
  });

  test('have a mark of their password that changes with the password; an unknown user has none', async () => {
    const before = await accounts.passwordOwner('anaika');
    expect(before).toMatchObject({ sub: (await accounts.get('anaika'))?.sub });
    expect((await accounts.verify('anaika', anaika.password))?.passwordMark).toBe(before?.passwordMark);
    await accounts.setPassword('anaika', anaika.password);
    expect((await accounts.passwordOwner('anaika'))?.passwordMark).not.toBe(before?.passwordMark);
    expect(await accounts.passwordOwner('nobody')).toBeNull();
  });

  test('hash a password again after the cost has changed', async () => {
    const stronger = createPasswords({ logN: 11, r: 8, p: 1 });
    const verified = await createAccounts(database, stronger, () => now).verify('anaika', anaika.password);
    const row = database.connection
      .prepare<[], { password_hash: string }>('SELECT password_hash FROM app_users')
      .get();
    expect(row?.password_hash).toMatch(/^scrypt\$11\$/);
    expect(await accounts.passwordOwner('Anaika')).toEqual({
      sub: verified?.sub,
      passwordMark: verified?.passwordMark,
    });
    expect(await accounts.verify('anaika', anaika.password)).not.toBeNull();
  });
});

test.each([
  [0n, '0.00'],
  [5n, '0.05'],
  [-5n, '-0.05'],
  [123456n, '1234.56'],
])('%d minor units are %s', (minor, text) => {
  expect(formatMoney(minor)).toBe(text);
});
