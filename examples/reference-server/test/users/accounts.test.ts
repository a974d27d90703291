import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '../../src/database/sqlite.ts';
import { formatMoney } from '../../src/ledger/money.ts';
import { type Accounts, createAccounts } from '../../src/users/accounts.ts';
import { createDirectory } from '../../src/users/directory.ts';
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

  test('get ids of their own', async () => {
    const other = await accounts.create(jean);
    const first = await accounts.get('anaika');
    expect(first?.sub).toMatch(/^usr_[0-9a-f]{20}$/);
    expect(first?.kid).toMatch(/^K[0-9A-HJKMNP-TV-Z]{12}$/);
    expect(other.sub).not.toBe(first?.sub);
    expect((await accounts.getBySub(other.sub))?.handle).toBe('jean');
  });

  test('have one owner per handle, whatever its case, and per phone', async () => {
    await expect(accounts.create({ ...jean, handle: 'ANAIKA' })).rejects.toThrow(
      'this handle belongs to another user',
    );
    await expect(accounts.create({ ...jean, phone: anaika.phone })).rejects.toThrow(
      'this phone belongs to another user',
    );
    expect((await accounts.get('Anaika'))?.handle).toBe('anaika');
  });

  test.each([
    [{ handle: 'two words' }, 'handle must be'],
    [{ handle: 'anаika' }, 'handle must be'],
    [{ password: 'short' }, 'password must have at least 10'],
    [{ phone: '37000003' }, 'phone must be a number'],
    [{ phone: '+509 3700 0003' }, 'phone must be a number'],
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

  test('say what is wrong with a field in words of their own, whatever it is', async () => {
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

  test('are listed page by page', async () => {
    await accounts.create(jean);
    const handles = async (page: Parameters<Accounts['list']>[0]) =>
      (await accounts.list(page)).map(({ handle }) => handle);
    expect(await handles({ limit: 1 })).toEqual(['anaika']);
    expect(await handles({ limit: 1, after: 'anaika' })).toEqual(['jean']);
  });

  test('are verified by handle and password, unless blocked', async () => {
    expect((await accounts.verify('ANAIKA', anaika.password))?.handle).toBe('anaika');
    expect(await accounts.verify('anaika', jean.password)).toBeNull();
    expect(await accounts.verify('nobody', anaika.password)).toBeNull();
    await accounts.block('anaika');
    expect(await accounts.verify('anaika', anaika.password)).toBeNull();
    await accounts.unblock('anaika');
    expect(await accounts.verify('anaika', anaika.password)).not.toBeNull();
  });

  test('a password that changes while it is checked does not count', async () => {
    const check = accounts.verify('anaika', anaika.password);
    database.connection.prepare("UPDATE app_users SET password_hash = 'scrypt$other'").run();
    expect(await check).toBeNull();
  });

  test('have a mark of their password that changes with it, and nobody’s has one', async () => {
    const before = await accounts.passwordOwner('anaika');
    expect(before).toMatchObject({ sub: (await accounts.get('anaika'))?.sub });
    expect((await accounts.verify('anaika', anaika.password))?.passwordMark).toBe(before?.passwordMark);
    await accounts.setPassword('anaika', anaika.password);
    expect((await accounts.passwordOwner('anaika'))?.passwordMark).not.toBe(before?.passwordMark);
    expect(await accounts.passwordOwner('nobody')).toBeNull();
  });

  test('hash a password anew when the cost has changed', async () => {
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

describe('the directory', () => {
  const now = Date.parse('2026-05-01T12:00:00Z');

  test('tells everything but what costs extra, unless asked', async () => {
    const { database } = await testDatabase();
    const accounts = createAccounts(database, createPasswords(cheap), () => now);
    const { sub, kid } = await accounts.create({
      ...anaika,
      kycStatus: 'approved',
      kycTier: 3,
      htgBalance: '999999999999999.99',
      usdBalance: '0.05',
      trustScore: 92,
      trustTier: 'gold',
      credentials: [
        { type: 'ended', issuedAt: new Date(now - 10), expiresAt: new Date(now) },
        { type: 'national_id', issuedAt: new Date(now - 9), expiresAt: new Date(now + 1) },
        { type: 'address', issuedAt: new Date(now - 8) },
      ],
    });
    const directory = createDirectory(database, () => now);
    const plain = await directory.find(sub, new Set(['openid']));
    expect(plain).toMatchObject({
      sub,
      kid,
      role: 'member',
      country: 'HT',
      createdAt: '2026-05-01T12:00:00.000Z',
    });
    expect(plain).not.toHaveProperty('htgBalance');
    expect(plain).not.toHaveProperty('activeCredentials');
    const full = await directory.find(sub, new Set(['wallet:balance', 'identity']));
    expect(full).toMatchObject({ htgBalance: '999999999999999.99', usdBalance: '0.05', trustScore: 92 });
    expect(full?.activeCredentials?.map(({ type }) => type)).toEqual(['national_id', 'address']);
    expect(await directory.findByKid(kid)).toEqual(plain);
    expect(await directory.findByPhone(anaika.phone)).toEqual(plain);
    expect(await directory.findByKid('KNOBODY')).toBeNull();
    expect(await directory.findByPhone('+50937009999')).toBeNull();
    await accounts.block('anaika');
    expect(await directory.find(sub, new Set(['openid']))).toBeNull();
    expect(await directory.findByKid(kid)).toBeNull();
    expect(await directory.findByPhone(anaika.phone)).toBeNull();
    expect(await directory.find('usr_unknown', new Set())).toBeNull();
  });

  test.each([
    [0n, '0.00'],
    [5n, '0.05'],
    [-5n, '-0.05'],
    [123456n, '1234.56'],
  ])('%d minor units are %s', (minor, text) => {
    expect(formatMoney(minor)).toBe(text);
  });
});
