import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Admission,
  createThrottle,
  defaultLimits,
  type SignInAttempt,
  type ThrottleLimits,
} from '../../src/sign-in/throttle.ts';
import { testDatabase } from '../support/database.ts';

type Throttle = ReturnType<typeof createThrottle>;

const key = new Uint8Array(32).fill(1);
const windowMs = 60_000;
const limits: ThrottleLimits = {
  perHandleAndNetwork: { failures: 3, windowMs },
  perHandle: { failures: 6, windowMs: 2 * windowMs },
  perNetwork: { failures: 5, windowMs },
  perBrowser: { failures: 2, windowMs },
};
const here = '192.0.2.1';

/** Counts a failed sign-in with a wrong password, if the throttle admits the attempt. */
async function fail(throttle: Throttle, attempt: SignInAttempt): Promise<Admission> {
  const admission = await throttle.admit(attempt);
  if (admission.admitted) await admission.settle('failed');
  return admission;
}

async function succeed(throttle: Throttle, attempt: SignInAttempt): Promise<boolean> {
  const admission = await throttle.admit(attempt);
  if (admission.admitted) await admission.settle('succeeded');
  return admission.admitted;
}

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

  const of = (handle: string, address: string | null = here, browser: string | null = null) => ({
    handle,
    address,
    browser,
  });
  const tries = async (times: number, attempt: SignInAttempt): Promise<number> => {
    let admitted = 0;
    for (let at = 0; at < times; at += 1) if ((await fail(throttle, attempt)).admitted) admitted += 1;
    return admitted;
  };

  test.each([3_600_000, 24 * 3_600_000])(
    'allows attempts again when the clock goes back by %d ms',
    async (back) => {
      expect(await tries(5, of('anaika'))).toBe(3);
      now -= 5_000;
      expect(await tries(1, of('anaika'))).toBe(0);
      now -= back;
      expect(await tries(5, of('anaika'))).toBe(3);
      now += windowMs;
      expect(await tries(5, of('anaika'))).toBe(3);
    },
  );

  test('refuses a network a handle after its limit, in any spelling, until the window ends', async () => {
    expect(await tries(3, of('anaika'))).toBe(3);
    now += 10_000;
    expect(await fail(throttle, of('ANAIKA'))).toEqual({ admitted: false, retryAfterSeconds: 50 });
    // Attempts from another network, or for another handle, are not affected.
    expect((await fail(throttle, of('anaika', '192.0.2.2'))).admitted).toBe(true);
    expect((await fail(throttle, of('somebody'))).admitted).toBe(true);
    now += 50_000;
    expect((await fail(throttle, of('anaika'))).admitted).toBe(true);
  });

  test('refuses a handle after a much higher limit, for attempts from any network', async () => {
    for (let at = 0; at < 6; at += 1) expect(await tries(1, of('anaika', `192.0.2.${at}`))).toBe(1);
    expect(await fail(throttle, of('anaika', '198.51.100.1'))).toEqual({
      admitted: false,
      retryAfterSeconds: 120,
    });
    expect((await fail(throttle, of('somebody', '198.51.100.1'))).admitted).toBe(true);
  });

  test('refuses a network that tries many handles', async () => {
    for (let at = 0; at < 5; at += 1) expect(await tries(1, of(`user${at}`))).toBe(1);
    expect(await tries(1, of('another'))).toBe(0);
    expect(await tries(1, of('another', '192.0.2.2'))).toBe(1);
  });

  test('treats a /48 as one network for attempts on a handle, and a /64 otherwise', async () => {
    const subnet = (group: string) => `2001:db8:1:${group}::1`;
    for (const group of ['1', '2', '3']) expect(await tries(1, of('anaika', subnet(group)))).toBe(1);
    expect(await tries(1, of('anaika', subnet('4')))).toBe(0);
    expect(await tries(1, of('anaika', '2001:db8:2:1::1'))).toBe(1);
    expect(await tries(9, of('jean', subnet('4')))).toBe(3);
    // Clients without a known IP address count as one network.
    expect(await tries(9, of('jean', null))).toBe(3);
  });

  test('counts a known browser separately, and only by browser', async () => {
    for (let at = 0; at < 6; at += 1) await fail(throttle, of('anaika', `192.0.2.${at}`));
    expect(await tries(1, of('anaika'))).toBe(0);
    expect(await succeed(throttle, of('anaika', here, 'browser-1'))).toBe(true);
    // Somebody who has stolen the cookie cannot guess without limit either, nor use up the limits of others.
    expect(await tries(9, of('anaika', here, 'browser-1'))).toBe(2);
    expect(await tries(9, of('anaika', '198.51.100.1', 'browser-1'))).toBe(0);
    expect(await tries(9, of('anaika', here, 'browser-2'))).toBe(2);
    expect(await tries(9, of('jean'))).toBe(3);
    now += windowMs;
    expect(await tries(1, of('anaika', here, 'browser-1'))).toBe(1);
  });

  test('a right password resets the user’s own failures, but not those of others', async () => {
    await tries(2, of('anaika'));
    await tries(2, of('anaika', '192.0.2.2'));
    expect(await succeed(throttle, of('anaika'))).toBe(true);
    // The handle may still fail four of six times, the network only two of five.
    expect(await tries(9, of('anaika', '192.0.2.3'))).toBe(2);
    expect(await tries(9, of('somebody'))).toBe(3);
    expect(await tries(9, of('another'))).toBe(0);
  });

  test('an attempt that could not be decided does not count', async () => {
    for (let at = 0; at < 20; at += 1) {
      const admission = await throttle.admit(of('anaika', here, at % 2 === 0 ? null : 'browser-1'));
      expect(admission.admitted).toBe(true);
      if (admission.admitted) await admission.settle('undecided');
    }
  });

  test('keeps neither handles nor addresses nor browsers in the clear', async () => {
    await fail(throttle, of('anaika'));
    await fail(throttle, of('anaika', here, 'browser-1'));
    const { database } = await testDatabase(file);
    const rows = database.connection.prepare('SELECT * FROM app_throttle').all();
    expect(rows).toHaveLength(4);
    expect(JSON.stringify(rows)).not.toMatch(/anaika|192\.0\.2|browser/);
  });
});

test('a hundred networks cannot reach the limit of a handle, whenever their windows begin', () => {
  const { perHandleAndNetwork, perHandle } = defaultLimits;
  // So many windows of a network overlap one window of the handle.
  const windows = perHandle.windowMs / perHandleAndNetwork.windowMs + 1;
  expect(100 * windows * perHandleAndNetwork.failures).toBeLessThan(perHandle.failures);
});
