import { beforeEach, describe, expect, test } from 'vitest';
import { createKnownBrowsers, knownLifetimeMs } from '../../src/sign-in/known-browsers.ts';

const key = new Uint8Array(32).fill(1);
const next = new Uint8Array(32).fill(2);
const owner = (sub: string, passwordMark = 'of today') => ({ sub, passwordMark });
const anaika = owner('usr_1');

describe('a browser', () => {
  let now = 0;
  let browsers: ReturnType<typeof createKnownBrowsers>;
  beforeEach(() => {
    now = Date.parse('2026-05-01T12:00:00.000Z');
    browsers = createKnownBrowsers([key], () => now);
  });

  test('is known for its user after a sign-in, and for no other user', () => {
    const cookie = browsers.remember(undefined, anaika);
    const name = browsers.recognise(cookie, anaika);
    expect(name).toMatch(/^[\w-]{22}$/);
    expect(cookie).toContain(name);
    expect(browsers.recognise(cookie, owner('usr_2'))).toBeNull();
    expect(browsers.recognise(cookie, null)).toBeNull();
    expect(browsers.recognise(undefined, anaika)).toBeNull();
    expect(cookie).not.toContain('usr_1');
  });

  test('is unknown again after the password was changed', () => {
    const cookie = browsers.remember(undefined, anaika);
    expect(browsers.recognise(cookie, owner('usr_1', 'of tomorrow'))).toBeNull();
  });

  test('gets a new name at every sign-in', () => {
    const first = browsers.remember(undefined, anaika);
    const second = browsers.remember(first, anaika);
    expect(browsers.recognise(second, anaika)).not.toBe(browsers.recognise(first, anaika));
    // A second sign-in of the same user replaces the entry in the cookie.
    expect(second.split('~')).toHaveLength(1);
  });

  test('is forgotten after half a year without a sign-in', () => {
    const cookie = browsers.remember(undefined, anaika);
    now += knownLifetimeMs - 1_000;
    expect(browsers.recognise(cookie, anaika)).not.toBeNull();
    const renewed = browsers.remember(cookie, anaika);
    now += 1_000;
    expect(browsers.recognise(cookie, anaika)).toBeNull();
    expect(browsers.recognise(renewed, anaika)).not.toBeNull();
  });

  test('is known to the five users who signed in last', () => {
    let cookie: string | undefined;
    for (let at = 0; at < 7; at += 1) cookie = browsers.remember(cookie, owner(`usr_${at}`));
    const known = Array.from(
      { length: 7 },
      (_, at) => browsers.recognise(cookie, owner(`usr_${at}`)) !== null,
    );
    expect(known).toEqual([false, false, true, true, true, true, true]);
    // Well below the 4 KB that browsers store of a cookie.
    expect(cookie?.length).toBeLessThan(500);
  });

  test('is not trusted if its name, expiry or signature was changed', () => {
    const [name = '', endsAt = '', proof = ''] = browsers.remember(undefined, anaika).split('.');
    for (const forged of [
      [name.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')), endsAt, proof],
      [name, String(Number(endsAt) + 1), proof],
      [name, endsAt, proof.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
      [name, endsAt, 'A'.repeat(43)],
      [name, endsAt, ''],
      [name, endsAt],
      [''],
      ['~'.repeat(10_000)],
    ]) {
      expect(browsers.recognise(forged.join('.'), anaika)).toBeNull();
    }
    // Invalid entries do not affect valid ones, and are removed.
    const cookie = `junk~${name}.${endsAt}.${proof}`;
    expect(browsers.recognise(cookie, anaika)).toBe(name);
    expect(browsers.remember(cookie, owner('usr_2'))).not.toContain('junk');
  });

  test('stays known while the sealing key is rotated, in processes with the old and the new keys', () => {
    const orders: [Uint8Array, ...Uint8Array[]][] = [[key, next], [next, key], [next]];
    const rounds = orders.map((keys) => createKnownBrowsers(keys, () => now));
    const [first, second, third] = rounds;
    const cookie = first?.remember(undefined, anaika);
    expect(second?.recognise(cookie, anaika)).not.toBeNull();
    expect(third?.recognise(cookie, anaika)).toBeNull();
    const renewed = second?.remember(cookie, anaika);
    for (const round of rounds) expect(round.recognise(renewed, anaika)).not.toBeNull();
  });
});
