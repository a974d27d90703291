import { expect, it } from 'vitest';
import { createTargetLimits, type Place } from '../../src/webhooks/target-limits.ts';
import { quiet } from '../worker/workshop.ts';

/** Creates limits of concurrent requests to one address, and timers that the test fires. */
function limited() {
  const timers = new Set<() => void>();
  const limits = createTargetLimits((fire) => {
    timers.add(fire);
    return () => timers.delete(fire);
  });
  const entered: Place[] = [];
  let turnedAway = 0;
  return {
    limits,
    entered,
    turnedAway: () => turnedAway,
    fire: () => {
      for (const fire of timers) fire();
    },
    async enter(partner: string, count: number, mode: 'live' | 'test' = 'live', address = '203.0.114.9') {
      for (let number = 0; number < count; number += 1)
        void limits.enter(address, `${mode}:${partner}`).then((place) => {
          if (place === null) turnedAway += 1;
          else entered.push(place);
        });
      await quiet();
    },
  };
}

it('at most 64 attempts are at one address at once, and partners share them', async () => {
  const { enter, entered } = limited();
  await enter('a', 200);
  expect(entered).toHaveLength(32);
  await enter('b', 200);
  expect(entered).toHaveLength(48);
  for (const partner of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) await enter(partner, 200);
  expect(entered.length).toBeGreaterThan(60);
  expect(entered.length).toBeLessThanOrEqual(64);
});

it('test mode has half of the places of an address, one partner half of these', async () => {
  const { enter, entered } = limited();
  await enter('a', 200, 'test');
  expect(entered).toHaveLength(16);
});

it('a waiting attempt begins when another one ends, and is postponed after five seconds', async () => {
  const { enter, entered, fire, turnedAway } = limited();
  await enter('a', 34);
  expect(entered).toHaveLength(32);
  entered[0]?.leave();
  await quiet();
  expect(entered).toHaveLength(33);
  fire();
  await quiet();
  expect([entered.length, turnedAway()]).toEqual([33, 1]);
  for (const place of entered.slice(1)) place.leave();
  await enter('a', 1);
  expect(entered).toHaveLength(34);
});

it('waiting attempts are postponed when the worker stops', async () => {
  const { enter, limits, turnedAway } = limited();
  await enter('a', 40);
  limits.turnAway();
  await quiet();
  expect(turnedAway()).toBe(8);
});

it('a place moves to the address that was reached, as long as that one has room', async () => {
  const { enter, entered } = limited();
  await enter('a', 31);
  await enter('a', 2, 'live', '203.0.114.10');
  expect(entered.slice(31).map((place) => place.moveTo('203.0.114.9'))).toEqual([true, false]);
});
