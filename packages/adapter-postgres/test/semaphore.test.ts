import { expect, test } from 'vitest';
import { Semaphore } from '../src/semaphore.ts';

/**
 * Starts a call that waits for a semaphore, and records whether the call still waits, has its place, or gave
 * up.
 */
function visitor(semaphore: Semaphore) {
  const patience = Promise.withResolvers<never>();
  patience.promise.catch(() => undefined);
  let state = 'waits';
  const taking = semaphore
    .acquire((turn) => Promise.race([turn, patience.promise]))
    .then(
      () => {
        state = 'sits';
      },
      () => {
        state = 'left';
      },
    );
  return { state: () => state, giveUp: () => patience.reject(new Error('too long')), taking };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function visitors(semaphore: Semaphore, count: number) {
  const all = Array.from({ length: count }, () => visitor(semaphore));
  await turn();
  const states = () => all.map(({ state }) => state());
  return { all, states };
}

test('as many sit as there are semaphore, the others are called up in the order in which they came', async () => {
  const semaphore = new Semaphore(2);
  const { states } = await visitors(semaphore, 5);
  expect(states()).toEqual(['sits', 'sits', 'waits', 'waits', 'waits']);
  for (const expected of [3, 4, 5]) {
    semaphore.release();
    await turn();
    expect(states().filter((state) => state === 'sits')).toHaveLength(expected);
    expect(states().indexOf('waits')).toBe(expected === 5 ? -1 : expected);
  }
});

test('a waiter that gives up leaves the queue and is not woken any more', async () => {
  const semaphore = new Semaphore(1);
  const { all, states } = await visitors(semaphore, 3);
  all[1]?.giveUp();
  await turn();
  expect(states()).toEqual(['sits', 'left', 'waits']);
  semaphore.release();
  await turn();
  expect(states()).toEqual(['sits', 'left', 'sits']);
});

test('a waiter that is woken while it gives up passes its seat on', async () => {
  const semaphore = new Semaphore(1);
  const { all, states } = await visitors(semaphore, 3);
  all[1]?.giveUp();
  semaphore.release();
  await turn();
  expect(states()).toEqual(['sits', 'left', 'sits']);
  const later = await visitors(semaphore, 1);
  expect(later.states()).toEqual(['waits']);
});
