import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { createSealer } from '../../src/keys/sealing.ts';
import { keyRefreshMs, SigningKeys } from '../../src/keys/signing-keys.ts';
import type { SigningKeyRecord } from '../../src/ports/signing-keys.ts';
import { systemRandom } from '../../src/random.ts';

/** Signing keys on a store whose next lists can be made to wait. */
async function started() {
  const storage = memoryStorage();
  await storage.open();
  const inner = storage.signingKeys;
  let now = 1_000_000;
  let list = () => inner.list();
  let reads = 0;
  const counted = () => {
    reads += 1;
    return list();
  };
  const sealer = createSealer([new Uint8Array(32).fill(7)], systemRandom);
  const clock = { now: () => now };
  const keys = new SigningKeys({ store: { ...inner, list: counted }, sealer, clock, random: systemRandom });
  await keys.start();
  reads = 0;
  return {
    keys,
    reads: () => reads,
    advance: (ms: number) => {
      now += ms;
    },
    /** The next list waits until it is told how it ends. */
    hold() {
      const { promise, resolve, reject } = Promise.withResolvers<SigningKeyRecord[]>();
      list = () => promise;
      return {
        async end() {
          list = () => inner.list();
          resolve([...(await inner.list())]);
        },
        fail() {
          list = () => inner.list();
          reject(new Error('the database does not answer'));
        },
      };
    },
  };
}

it('waits for the keys when they are old', async () => {
  const { keys, advance, hold } = await started();
  const first = await keys.current();
  advance(keyRefreshMs);
  const held = hold();
  const asking = keys.current();
  const early = new Promise((resolve) => setImmediate(resolve, 'nothing yet'));
  expect(await Promise.race([asking, early])).toBe('nothing yet');
  await held.end();
  expect(await asking).toBe(first);
});

it('goes on with the last ones where the database does not answer, and asks it again later', async () => {
  const { keys, reads, advance, hold } = await started();
  const first = await keys.current();
  advance(keyRefreshMs);
  const failing = hold();
  const asking = keys.current();
  failing.fail();
  expect(await asking).toBe(first);
  expect(await keys.current()).toBe(first);
  expect(reads()).toBe(1);
  advance(keyRefreshMs);
  expect(await keys.current()).toBe(first);
  expect(reads()).toBe(2);
});
