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
