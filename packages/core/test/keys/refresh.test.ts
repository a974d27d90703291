import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it, vi } from 'vitest';
import { createSealer } from '../../src/keys/sealing.ts';
import { keyRefreshMs, SigningKeys } from '../../src/keys/signing-keys.ts';
import { systemRandom } from '../../src/random.ts';

it('signing keys are read ahead of time, waited for when they are old, and used on while nobody answers', async () => {
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
  const stored = await store.list();
  /** The next list waits until it is told how it ends. */
  const hold = () => {
    const held = Promise.withResolvers<typeof stored>();
    list.mockClear().mockReturnValueOnce(held.promise);
    return held;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve, 'nothing yet'));

  now += keyRefreshMs - 1;
  const early = hold();
  expect([await keys.current(), await keys.current()]).toEqual([first, first]);
  expect(list).toHaveBeenCalledTimes(1);
  early.resolve(stored);
  await turn();

  now += keyRefreshMs;
  const late = hold();
  const asking = keys.current();
  expect(await Promise.race([asking, turn()])).toBe('nothing yet');
  late.reject(new Error('the database does not answer'));
  expect(await asking).toBe(first);

  // It is asked again, and waited for by nobody.
  const again = hold();
  expect(await keys.current()).toBe(first);
  expect(list).toHaveBeenCalledTimes(1);
  again.resolve(stored);
  await turn();
  expect(await keys.current()).toBe(first);
  expect(list).toHaveBeenCalledTimes(1);
});
