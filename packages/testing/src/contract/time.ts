import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertUnavailable, casesOf, inParallel } from './case.ts';

function timeOf(storage: Storage): () => Promise<number> {
  assert.ok(storage.time, 'the storage has no time, although the contract was told so');
  return storage.time.bind(storage);
}

/** Test cases for a storage whose database has a clock. */
export const timeCases = casesOf('time', {
  'is in milliseconds since the Unix epoch': async (storage) => {
    const time = await timeOf(storage)();
    // The clocks of two machines may differ, but not by years.
    assert.ok(time > Date.parse('2020-01-01') && time < Date.parse('2200-01-01'), String(time));
  },

  'goes on from call to call, and does not stand still in one': async (storage) => {
    const time = timeOf(storage);
    let last = await time();
    const end = last + 20;
    while (last < end) {
      const next = await time();
      assert.ok(next >= last, `${next} after ${last}`);
      last = next;
    }
    await inParallel(20, time);
  },

  'is refused as unavailable after close': async (storage) => {
    const time = timeOf(storage);
    await storage.close();
    await assertUnavailable(time);
  },
});

/** Test cases for a storage that does not report the time of a database. */
export const noTimeCases = casesOf('time', {
  'is that of the machine: the storage tells none': async ({ time }) => {
    assert.equal(time, undefined, 'pass { time: true } to the contract, so that it is tested');
  },
});
