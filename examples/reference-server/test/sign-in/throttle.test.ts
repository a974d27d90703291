import { beforeEach, describe, expect, test } from 'vitest';
import { type Admission, createThrottle, type Throttle } from '../../src/sign-in/throttle.ts';
import { testDatabase } from '../support/database.ts';

const key = new Uint8Array(32).fill(1);
const limits = { perHandle: 3, perNetwork: 5, windowMs: 60_000 };

describe('the throttle', () => {
  let now = 0;
  let file = '';
  let throttle: Throttle;

  beforeEach(async () => {
    now = 1_000_000;
    const opened = await testDatabase();
    file = opened.file;
    throttle = createThrottle(opened.database, [key], () => now, limits);
  });

  async function fail(handle: string, network = '192.0.2.1'): Promise<Admission> {
    const admission = await throttle.admit(handle, network);
    if (admission.admitted) await admission.settle('failed');
    return admission;
  }

  test('refuses a handle after its limit, in any spelling, until the window ends', async () => {
    for (let at = 0; at < limits.perHandle; at += 1) expect((await fail('anaika')).admitted).toBe(true);
    now += 10_000;
    expect(await fail('ANAIKA', '192.0.2.2')).toEqual({ admitted: false, retryAfterSeconds: 50 });
    expect((await fail('somebody', '192.0.2.2')).admitted).toBe(true);
    now += 50_000;
    expect((await fail('anaika')).admitted).toBe(true);
  });

  test('refuses a network that tries many handles', async () => {
    for (let at = 0; at < limits.perNetwork; at += 1) expect((await fail(`user${at}`)).admitted).toBe(true);
    expect((await fail('another')).admitted).toBe(false);
    expect((await fail('another', '192.0.2.2')).admitted).toBe(true);
  });

  test('refused attempts do not make the wait longer', async () => {
    for (let at = 0; at < 20; at += 1) await fail('anaika');
    now += limits.windowMs;
    expect((await fail('anaika')).admitted).toBe(true);
  });

  test('counts attempts that run at the same time before their passwords are known', async () => {
    const admissions = await Promise.all(
      Array.from({ length: 10 }, () => throttle.admit('anaika', '192.0.2.1')),
    );
    expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(limits.perHandle);
  });

  test('a right password clears the handle and does not count for the network', async () => {
    await fail('anaika');
    await fail('anaika');
    const admission = await throttle.admit('anaika', '192.0.2.1');
    if (admission.admitted) await admission.settle('succeeded');
    for (let at = 0; at < limits.perHandle; at += 1) expect((await fail('anaika')).admitted).toBe(true);
    expect((await fail('somebody')).admitted).toBe(false);
  });

  test('an attempt that could not be decided does not count', async () => {
    for (let at = 0; at < 10; at += 1) {
      const admission = await throttle.admit('anaika', '192.0.2.1');
      expect(admission.admitted).toBe(true);
      if (admission.admitted) await admission.settle('undecided');
    }
  });

  test('an attempt of an earlier window takes nothing out of the present one', async () => {
    const slow = await throttle.admit('anaika', '192.0.2.1');
    now += limits.windowMs;
    for (let at = 0; at < limits.perHandle; at += 1) await fail('anaika');
    if (slow.admitted) await slow.settle('undecided');
    expect((await fail('anaika')).admitted).toBe(false);
  });

  test('survives a restart', async () => {
    for (let at = 0; at < limits.perHandle; at += 1) await fail('anaika');
    const { database } = await testDatabase(file);
    const restarted = createThrottle(database, [key], () => now, limits);
    expect((await restarted.admit('anaika', '192.0.2.1')).admitted).toBe(false);
  });

  test('counts on while the sealing key is changed, whatever a process knows of it', async () => {
    const { database } = await testDatabase(file);
    const next = new Uint8Array(32).fill(2);
    const rounds = [[key, next], [next, key], [next]].map((keys) =>
      createThrottle(database, keys, () => now, limits),
    );
    const admitted = async (round: Throttle) => (await round.admit('anaika', '192.0.2.1')).admitted;
    for (const round of rounds) expect(await admitted(round)).toBe(true);
    for (const round of rounds) expect(await admitted(round)).toBe(false);
    // What a process of the round before counted is cleared, and taken back, by one of the next.
    now += limits.windowMs;
    const [first, second] = rounds;
    for (let at = 0; at < limits.perNetwork + 1; at += 1) {
      const admission = await (at % 2 === 0 ? first : second)?.admit('anaika', '192.0.2.1');
      expect(admission?.admitted).toBe(true);
      if (admission?.admitted) await admission.settle(at % 3 === 0 ? 'succeeded' : 'undecided');
    }
  });

  test('keeps neither handles nor addresses in the clear', async () => {
    await fail('anaika');
    const { database } = await testDatabase(file);
    const rows = database.connection.prepare('SELECT * FROM app_throttle').all();
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/anaika|192\.0\.2/);
  });
});
