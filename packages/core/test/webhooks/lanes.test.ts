import { expect, it } from 'vitest';
import { createLanes } from '../../src/webhooks/lanes.ts';

it('lanes begin with two attempts, widen by one with every answer up to 128, and have one without an answer', () => {
  const lanes = createLanes(512);
  const attempt = (answered: boolean) => {
    lanes.begin('a');
    lanes.end('a', answered);
  };
  expect([lanes.freeOfUnknown, lanes.free]).toEqual([2, 384]);
  for (let answers = 0; answers < 200; answers += 1) attempt(true);
  expect(lanes.slots().get('a')).toBe(128);
  lanes.begin('a');
  expect(lanes.slots().get('a')).toBe(127);
  lanes.end('a', false);
  expect(lanes.slots().get('a')).toBe(1);
  attempt(true);
  expect(lanes.slots().get('a')).toBe(2);
});

it('lanes let sixteen times as many be claimed ahead of one that answers within 50 ms, half of the worker at most', () => {
  let waiting = 0;
  const lanes = createLanes(512, () => waiting);
  const slotsAfter = (answered: boolean, durationMs: number) => {
    lanes.begin('a');
    lanes.end('a', answered, durationMs);
    return lanes.slots().get('a');
  };
  expect(slotsAfter(true, 50)).toBe(17 * 3);
  waiting = 17 * 3 - 13;
  expect(lanes.slots().get('a'), 'a quarter of it').toBe(13);
  waiting += 1;
  expect([lanes.slots().get('a'), lanes.hasSlots()], 'too little for a claim').toEqual([0, false]);
  waiting = 0;
  expect(slotsAfter(true, 51), 'of an endpoint that takes its time').toBe(4);
  for (let answers = 0; answers < 200; answers += 1) slotsAfter(true, 0);
  expect(lanes.slots().get('a'), 'at most').toBe(128 + 256);
  expect(slotsAfter(false, 10), 'of one that did not answer').toBe(1);
});

it('lanes count what is under way of an endpoint that they forgot', () => {
  const lanes = createLanes(1_000_000);
  lanes.begin('forgotten');
  lanes.begin('forgotten');
  for (let other = 0; other < 10_001; other += 1) {
    lanes.begin(`other ${other}`);
    lanes.end(`other ${other}`, true);
  }
  expect(lanes.slots().get('forgotten')).toBe(0);
  lanes.end('forgotten', true);
  expect(lanes.slots().get('forgotten')).toBe(2);
});
