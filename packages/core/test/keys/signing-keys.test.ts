import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { createOstiary, type OstiaryOptions } from '../../src/index.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { keyRefreshMs, SigningKeys } from '../../src/keys/signing-keys.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage } from '../../src/storage.ts';
import { openConsent } from '../support/consent-form.ts';
import { Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

describe('the start', () => {
  const close = vi.fn(async () => undefined);
  /**
   * Creates an Ostiary whose `close` leaves the storage open and is only recorded, because several instances
   * share the storage.
   */
  const start = (storage: Storage, ...sealingKeys: Uint8Array[]) => {
    const { users, login } = new Host();
    const options: OstiaryOptions = { authUrl: 'https://id.example', storage, sealingKeys, users, login };
    return createOstiary({ ...options, storage: { ...storage, close } });
  };

  it('stops with a clear line when no key opens the database, and changes nothing in it', async () => {
    const storage = memoryStorage();
    await start(storage, randomBytes(32));
    const before = await storage.signingKeys.list();
    close.mockClear();
    const thrown = await start(storage, randomBytes(32)).catch((error: unknown) => error);
    expect(String(thrown)).toMatch(
      /^TypeError: sealingKeys: none of the given keys opens this database \(signing_keys\/.* is sealed with the key [0-9a-f]{12}, which is not among sealingKeys\)/,
    );
    expect(await storage.signingKeys.list()).toEqual(before);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('stops when a sealed key was moved to another row, or was altered', async () => {
    const storage = memoryStorage();
    const key = randomBytes(32);
    await start(storage, key);
    const [one, two] = await storage.signingKeys.list();
    await storage.signingKeys.reseal(one?.kid ?? '', two?.sealedPrivateJwk ?? '');
    await expect(start(storage, key)).rejects.toThrow(/altered, or moved from another row/);
  });

  it('accepts cookies and forms of a previous key, so that users can continue', async () => {
    const storage = memoryStorage();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const shared = { storage, authUrl: 'https://id.example' };
    const before = await startProvider({ ...shared, sealingKeys: [old] });
    const page = await openConsent(before, await before.client());
    const sealingKeys = [next, old];
    const after = await startProvider({ ...shared, sealingKeys, clock: before.clock }, before.host);
    page.browser.connectTo(after.origin);
    expect((await page.finish()).outcome).toBe('303 code');
  });
});

it('signing keys are read again after a time, and stay in use while the storage does not respond', async () => {
  const storage = memoryStorage();
  await storage.open();
  const { signingKeys: store } = storage;
  const list = vi.fn(store.list);
  let now = 1_000_000;
  const sealer = createSealer([new Uint8Array(32).fill(7)], systemRandom);
  const clock = { now: () => now };
  const keys = new SigningKeys({ store: { ...store, list }, sealer, clock, random: systemRandom });
  await keys.start();
  const first = await keys.current();
  list.mockClear().mockRejectedValue(new Error('the database does not answer'));
  const asked = [];
  for (const ms of [keyRefreshMs - 1, 1, keyRefreshMs]) {
    now += ms;
    for (let time = 0; time < 2; time += 1) expect(await keys.current()).toBe(first);
    asked.push(list.mock.calls.length);
  }
  // The storage is queried only once the keys are older than `keyRefreshMs`, and as long after a failed query.
  expect(asked).toEqual([0, 1, 2]);
});

it('signing keys are read again when the clock has gone back', async () => {
  const storage = memoryStorage();
  await storage.open();
  const { signingKeys: store } = storage;
  const list = vi.fn(store.list);
  let now = 10_000_000;
  const sealer = createSealer([new Uint8Array(32).fill(7)], systemRandom);
  const clock = { now: () => now };
  const keys = new SigningKeys({ store: { ...store, list }, sealer, clock, random: systemRandom });
  await keys.start();
  list.mockClear();
  now -= 3_600_000;
  for (let time = 0; time < 2; time += 1) await keys.current();
  expect(list).toHaveBeenCalledTimes(1);
});
