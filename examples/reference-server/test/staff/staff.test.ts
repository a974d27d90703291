import { describe, expect, test } from 'vitest';
import { createSealer } from '../../src/staff/sealed.ts';
import { createStaff, type Staff } from '../../src/staff/staff.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { onBothEngines } from '../support/engines.ts';
import { cheap } from '../support/server.ts';
import { codeOf, password } from '../support/staff.ts';

const key = new Uint8Array(32).fill(7);
const secret = new Uint8Array(20).fill(1);
/** Secret of the one-time codes in Base32, as a person types it into an authenticator app. */
const shown = 'AEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIB';

onBothEngines('staff accounts', (engine) => {
  async function opened() {
    const { database } = await engine.open();
    const clock = { now: 1_764_000_000_000 };
    const staff = createStaff(database, createPasswords(cheap), createSealer([key]), () => clock.now);
    const code = () => codeOf(shown, clock.now);
    /** Adds a staff member who can sign in. */
    async function member(email: string, role: 'owner' | 'admin' = 'owner') {
      const link = await staff.invite(email, role);
      const recovery = await staff.setPassword(link, password, { secret, code: code() });
      return { ...link.member, recovery: recovery ?? [] };
    }
    return { database, staff, clock, code, member };
  }

  test('a link works once, for a day, and a newer one replaces it', async () => {
    const { staff, clock, code } = await opened();
    const link = await staff.invite('ana@example.com', 'owner');
    expect((await staff.findLink(link.token))?.member.email).toBe('ana@example.com');
    await expect(staff.invite('ANA@example.com', 'admin')).rejects.toThrow('was invited before');
    await expect(staff.invite('ana', 'admin')).rejects.toThrow('not an e-mail address');
    const newer = await staff.reset('ana@example.com');
    expect(await staff.findLink(link.token)).toBeNull();
    const use = () => staff.setPassword(newer, password, { secret, code: code() });
    const results = await Promise.allSettled([use(), use(), use()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await staff.findLink(newer.token)).toBeNull();
    const late = await staff.reset('ana@example.com');
    clock.now += 24 * 3_600_000;
    expect(await staff.findLink(late.token)).toBeNull();
    await expect(staff.setPassword(late, password, { secret, code: code() })).rejects.toThrow('over');
  });

  test('a code and a recovery code sign in once each, also at the same time', async () => {
    const { staff, clock, code, member } = await opened();
    const { recovery } = await member('ana@example.com');
    expect(recovery).toHaveLength(10);
    const verify = (typed: string) => staff.verify('Ana@example.com', password, typed, false);
    // The code of the enrolment itself is used up.
    expect(await verify(code())).toBeNull();
    clock.now += 30_000;
    const results = await Promise.all([verify(code()), verify(code()), verify(code())]);
    expect(results.filter((one) => one !== null)).toHaveLength(1);
    const [first = '', second = ''] = recovery;
    const twice = await Promise.all([verify(first), verify(first.toLowerCase().replaceAll('-', ' '))]);
    expect(twice.filter((one) => one !== null)).toHaveLength(1);
    expect(await verify('')).toBeNull();
    clock.now += 30_000;
    expect(await staff.verify('ana@example.com', 'wrong password', code(), false)).toBeNull();
    await member('bob@example.com');
    expect(await staff.verify('bob@example.com', password, second, false)).toBeNull();
  });

  test('secrets of authenticator apps are counted and sealed with the first key', async () => {
    const { database, clock, code, member } = await opened();
    await member('ana@example.com');
    await member('bob@example.com', 'admin');
    const lost = await member('eve@example.com', 'admin');
    await database.write((transaction) =>
      transaction.run('UPDATE app_staff SET totp = :totp WHERE id = :id', { id: lost.id, totp: 'x' }),
    );
    const newKey = new Uint8Array(32).fill(9);
    const withKeys = (...keys: [Uint8Array, ...Uint8Array[]]) =>
      createStaff(database, createPasswords(cheap), createSealer(keys), () => clock.now);
    const signIn = (staff: Staff) => staff.verify('ana@example.com', password, code(), false);
    const { secrets } = withKeys(newKey, key);
    clock.now += 30_000;
    expect(await signIn(withKeys(newKey))).toBeNull();
    expect(await secrets.countSealedOtherwise()).toBe(3);
    expect(await secrets.reseal()).toEqual({ sealed: 2, unopened: 1 });
    expect(await secrets.countSealedOtherwise()).toBe(1);
    expect(await secrets.reseal()).toEqual({ sealed: 0, unopened: 1 });
    expect(await signIn(withKeys(newKey))).toMatchObject({ email: 'ana@example.com' });
  });

  test('a password alone signs in only where the server allows it', async () => {
    const { staff } = await opened();
    await staff.setPassword(await staff.invite('demo@example.com', 'owner'), password, null);
    expect(await staff.verify('demo@example.com', password, '', false)).toBeNull();
    expect(await staff.verify('demo@example.com', password, '', true)).toMatchObject({ role: 'owner' });
  });

  test('the last owner who can sign in stays, also if two owners remove each other', async () => {
    const { staff, member } = await opened();
    await member('ana@example.com');
    await staff.invite('new@example.com', 'owner');
    await expect(staff.disable('ana@example.com')).rejects.toThrow('the last owner');
    await expect(staff.changeRole('ana@example.com', 'admin')).rejects.toThrow('the last owner');
    await staff.disable('new@example.com');
    await member('bob@example.com');
    await Promise.allSettled([
      staff.disable('ana@example.com'),
      staff.changeRole('bob@example.com', 'viewer'),
    ]);
    const owners = (await staff.list()).filter(
      ({ role, disabledAt }) => role === 'owner' && disabledAt === null,
    );
    expect(owners).toHaveLength(1);
    await expect(staff.disable('nobody@example.com')).rejects.toThrow('there is no staff member');
  });

  test('a disabled person has no way in, until a reset', async () => {
    const { staff, clock, code, member } = await opened();
    await member('ana@example.com');
    const { id } = await member('bob@example.com', 'admin');
    const passkey = { id: 'key-1', publicKey: new Uint8Array([1]), counter: 0 };
    await staff.addPasskey(id, passkey, null);
    await staff.disable('bob@example.com');
    clock.now += 30_000;
    expect(await staff.verify('bob@example.com', password, code(), false)).toBeNull();
    expect(await staff.findPasskey('key-1')).toBeNull();
    const link = await staff.reset('bob@example.com');
    expect(link.member).toMatchObject({ disabledAt: null, hasJoined: false });
    expect(await staff.passkeys(id)).toEqual([]);
  });

  test('a passkey belongs to one person, and neither a counter nor a challenge is taken twice', async () => {
    const { staff, member } = await opened();
    const ana = await member('ana@example.com');
    const bob = await member('bob@example.com');
    const passkey = { id: 'key-1', publicKey: new Uint8Array([1, 2]), counter: 3 };
    await staff.addPasskey(ana.id, passkey, null);
    await expect(staff.addPasskey(bob.id, passkey, null)).rejects.toThrow('registered already');
    expect(await staff.findPasskey('key-1')).toMatchObject({ staffId: ana.id, counter: 3 });
    const endsAt = Number.MAX_SAFE_INTEGER;
    const use = (value: string, counter: number) => staff.usePasskey('key-1', counter, { value, endsAt });
    const together = await Promise.all([use('a', 4), use('a', 5)]);
    expect(together.sort()).toEqual(['replayed', 'used']);
    expect(await use('b', 3)).toBe('cloned');
    const copies = await Promise.all([use('c', 9), use('d', 9)]);
    expect(copies.sort()).toEqual(['cloned', 'used']);
    await staff.addPasskey(bob.id, { ...passkey, id: 'key-2', counter: 0 }, null);
    const without = (value: string) => staff.usePasskey('key-2', 0, { value, endsAt });
    expect([await without('e'), await without('f')]).toEqual(['used', 'used']);
  });
});

describe('a sealed value', () => {
  test('opens in its own row only, with any of the keys', () => {
    const other = new Uint8Array(32).fill(8);
    const sealed = createSealer([key]).seal(secret, 'row');
    expect(createSealer([other, key]).open(sealed, 'row')).toEqual(Buffer.from(secret));
    expect(createSealer([key]).open(sealed, 'another')).toBeNull();
    expect(createSealer([other]).open(sealed, 'row')).toBeNull();
    expect(createSealer([key]).open('short', 'row')).toBeNull();
  });
});
