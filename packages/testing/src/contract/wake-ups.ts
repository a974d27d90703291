import assert from 'node:assert/strict';
import type { Storage, WakeUps, Work } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';

function wakeUpsOf({ wakeUps }: Storage): WakeUps {
  assert.ok(wakeUps, 'the storage has no wake-ups, although the contract was told so');
  return wakeUps;
}

/**
 * Listens for notifications of new work. The returned function waits for a notification of one kind of work
 * that arrived since the previous wait.
 */
function listener({ listen }: WakeUps) {
  const heard = new Set<Work>();
  let news = Promise.withResolvers<void>();
  const stop = listen((work) => {
    heard.add(work);
    news.resolve();
  });
  async function until(work: Work): Promise<void> {
    while (!heard.delete(work)) {
      news = Promise.withResolvers();
      await news.promise;
    }
  }
  return { heard, until, stop };
}

/** Test cases for a storage whose processes notify each other of new work. */
export const wakeUpCases = casesOf('wake-ups', {
  'who listens hears of both kinds at first, and then what is told, until the end': async (storage) => {
    const wakeUps = wakeUpsOf(storage);
    const [first, second] = [listener(wakeUps), listener(wakeUps)];
    for (const { until } of [first, second]) {
      await until('jobs');
      await until('deliveries');
    }
    wakeUps.notify('deliveries');
    await first.until('deliveries');
    await second.until('deliveries');
    first.stop();
    wakeUps.notify('jobs');
    await second.until('jobs');
    assertSame(first.heard, new Set());
    second.stop();
  },

  'after close nothing is heard, and nothing thrown': async (storage) => {
    const wakeUps = wakeUpsOf(storage);
    await storage.close();
    const { heard, stop } = listener(wakeUps);
    wakeUps.notify('jobs');
    stop();
    assertSame(heard, new Set());
  },
});

/** Test cases for a storage whose processes do not notify each other. */
export const noWakeUpCases = casesOf('wake-ups', {
  'there are none: workers find work by looking': async ({ wakeUps }) => {
    assert.equal(wakeUps, undefined, 'pass { wakeUps: true } to the contract, so that they are tested');
  },
});
