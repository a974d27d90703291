import { describe, expect, test } from 'vitest';
import { createPasswords, TooBusy } from '../../src/users/passwords.ts';
import { countHashes } from '../support/hashes.ts';
import { cheap } from '../support/server.ts';

describe('passwords', () => {
  const passwords = createPasswords(cheap);

  test('verifies the right password and no other', async () => {
    const stored = await passwords.hash('correct horse');
    expect(await passwords.verify('correct horse', stored)).toBe(true);
    expect(await passwords.verify('correct horsE', stored)).toBe(false);
    expect(await passwords.verify('', stored)).toBe(false);
  });

  test('salts, and keeps the cost with the hash', async () => {
    const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    expect(one).not.toBe(other);
    expect(one).toMatch(/^scrypt\$10\$8\$1\$/);
  });

  test('treats both Unicode forms of an accent as the same password', async () => {
    const stored = await passwords.hash('caf\u00e9 lakay');
    expect(await passwords.verify('cafe\u0301 lakay', stored)).toBe(true);
  });

  test('computes a hash also for an unknown user, and returns false', async () => {
    const hashes = countHashes();
    expect(await passwords.verify('anything', null)).toBe(false);
    expect(hashes()).toBe(1);
  });

  test('verifies hashes of another cost and calls them outdated', async () => {
    const stored = await createPasswords({ logN: 9, r: 8, p: 1 }).hash('correct horse');
    expect(await passwords.verify('correct horse', stored)).toBe(true);
    expect(passwords.isOutdated(stored)).toBe(true);
    expect(passwords.isOutdated(await passwords.hash('x'))).toBe(false);
  });

  test('computes two hashes at once, lets some calls wait and refuses the rest', async () => {
    const hashes = countHashes();
    const all = Array.from({ length: 40 }, () => passwords.hash('x'));
    expect(hashes()).toBe(2);
    const results = await Promise.allSettled(all);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(results.length - refused.length).toBe(26);
    expect(refused.every(({ reason }) => reason instanceof TooBusy)).toBe(true);
    // All places are free again.
    expect(await passwords.verify('x', await passwords.hash('x'))).toBe(true);
  });

  test('is strong by default', async () => {
    expect(await createPasswords().hash('x')).toMatch(/^scrypt\$17\$8\$1\$/);
  });

  test('gives known browsers a separate queue, which is limited, too', async () => {
    const passwords = createPasswords({ logN: 10, r: 8, p: 1 });
    const stored = await passwords.hash('x');
    const order: string[] = [];
    const enter = (who: 'known' | 'others') =>
      passwords.verify('x', stored, who).then(
        () => void order.push(who),
        () => void order.push(`${who} refused`),
      );
    const strangers = Array.from({ length: 40 }, () => enter('others'));
    const users = Array.from({ length: 30 }, () => enter('known'));
    await Promise.all([...strangers, ...users]);
    expect(order.filter((who) => who === 'others refused')).toHaveLength(14);
    expect(order.filter((who) => who === 'known refused')).toHaveLength(6);
    // Two had started, and may end in either order.
    const done = order.filter((who) => !who.endsWith('refused'));
    expect(done.slice(0, 28).filter((who) => who === 'known').length).toBeGreaterThanOrEqual(22);
    expect(done).toHaveLength(50);
  });
});
