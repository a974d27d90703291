import { expect, it } from 'vitest';
import { createLanes } from '../../src/webhooks/lanes.ts';

it('lanes begin with two attempts, widen by one with every answer up to 64, and have one without an answer', () => {
  const lanes = createLanes(512);
  const attempt = (answeredMs: number | null) => {
    lanes.begin('a');
    lanes.end('a', answeredMs);
  };
  expect([lanes.freeOfUnknown, lanes.free]).toEqual([2, 384]);
  for (let answers = 0; answers < 200; answers += 1) attempt(100);
  expect(lanes.slots().get('a')).toBe(64);
  lanes.begin('a');
  expect(lanes.slots().get('a')).toBe(63);
  lanes.end('a', null);
  expect(lanes.slots().get('a')).toBe(1);
  attempt(100);
  expect(lanes.slots().get('a')).toBe(2);
});

it('lanes let sixteen times as many be claimed ahead of one that answers within 50 ms, half of the worker at most', () => {
  let waiting = 0;
  const lanes = createLanes(512, () => waiting);
  const slotsAfter = (answeredMs: number | null) => {
    lanes.begin('a');
    lanes.end('a', answeredMs);
    return lanes.slots().get('a');
  };
  expect(slotsAfter(50)).toBe(17 * 3);
  waiting = 17 * 3 - 13;
  expect(lanes.slots().get('a'), 'a quarter of it').toBe(13);
  waiting += 1;
  expect([lanes.slots().get('a'), lanes.hasSlots()], 'too little for a claim').toEqual([0, false]);
  waiting = 0;
  expect(slotsAfter(51), 'of an endpoint that takes its time').toBe(4);
  for (let answers = 0; answers < 200; answers += 1) slotsAfter(0);
  expect(lanes.slots().get('a'), 'at most').toBe(64 + 256);
  expect(slotsAfter(null), 'of one that did not answer').toBe(1);
});

it('lanes take a slow answer for no proof that an endpoint is well', () => {
  const lanes = createLanes(512);
  const answer = (ms: number) => {
    lanes.begin('a');
    lanes.end('a', ms);
  };
  for (let answers = 0; answers < 100; answers += 1) answer(5);
  expect(lanes.isProven('a')).toBe(true);
  answer(1_001);
  expect([lanes.isProven('a'), lanes.slots().get('a')], 'fewer at once, and none ahead').toEqual([false, 32]);
  for (let begun = 0; begun < 32; begun += 1) lanes.begin('a');
  expect(lanes.free, 'with those that have not proven themselves').toBe(384 - 32);
  lanes.end('a', 1_000);
  expect([lanes.isProven('a'), lanes.free]).toEqual([true, 384]);
});

it('lanes stay as they are after an attempt that was not made', () => {
  const lanes = createLanes(512);
  const notMade = () => {
    lanes.begin('a');
    lanes.giveBack('a');
  };
  notMade();
  expect([lanes.slots().get('a'), lanes.free]).toEqual([2, 384]);
  lanes.begin('a');
  lanes.end('a', 100);
  notMade();
  expect([lanes.isProven('a'), lanes.slots().get('a')]).toEqual([true, 3]);
});

it('lanes count what is under way of an endpoint that they forgot', () => {
  const lanes = createLanes(1_000_000);
  lanes.begin('forgotten');
  lanes.begin('forgotten');
  for (let other = 0; other < 10_001; other += 1) {
    lanes.begin(`other ${other}`);
    lanes.end(`other ${other}`, 100);
  }
  expect(lanes.slots().get('forgotten')).toBe(0);
  lanes.end('forgotten', 100);
  expect(lanes.slots().get('forgotten')).toBe(2);
});
