import { expect, it } from 'vitest';
import { createEndpointLimiter } from '../../src/webhooks/endpoint-limiter.ts';

it('limiter begin with two attempts, widen by one with every answer up to 32, and have one without an answer', () => {
  const limiter = createEndpointLimiter(512);
  const attempt = (answeredMs: number | null) => {
    limiter.begin('a');
    limiter.end('a', answeredMs);
  };
  expect([limiter.freeOfUnknown, limiter.free]).toEqual([2, 384]);
  for (let answers = 0; answers < 200; answers += 1) attempt(100);
  expect(limiter.slots().get('a')).toBe(32);
  limiter.begin('a');
  expect(limiter.slots().get('a')).toBe(31);
  limiter.end('a', null);
  expect(limiter.slots().get('a')).toBe(1);
  attempt(100);
  expect(limiter.slots().get('a')).toBe(2);
});

it('limiter let sixteen times as many be claimed ahead of one that answers within 50 ms, half of the worker at most', () => {
  let waiting = 0;
  const limiter = createEndpointLimiter(512, () => waiting);
  const slotsAfter = (answeredMs: number | null) => {
    limiter.begin('a');
    limiter.end('a', answeredMs);
    return limiter.slots().get('a');
  };
  expect(slotsAfter(50)).toBe(17 * 3);
  waiting = 17 * 3 - 13;
  expect(limiter.slots().get('a'), 'a quarter of it').toBe(13);
  waiting += 1;
  expect([limiter.slots().get('a'), limiter.hasSlots()], 'too little for a claim').toEqual([0, false]);
  waiting = 0;
  expect(slotsAfter(51), 'of an endpoint that takes its time').toBe(4);
  for (let answers = 0; answers < 200; answers += 1) slotsAfter(0);
  expect(limiter.slots().get('a'), 'at most').toBe(32 + 256);
  expect(slotsAfter(null), 'of one that did not answer').toBe(1);
});

it('limiter take a slow answer for no proof that an endpoint is well', () => {
  const limiter = createEndpointLimiter(512);
  const answer = (ms: number) => {
    limiter.begin('a');
    limiter.end('a', ms);
  };
  for (let answers = 0; answers < 100; answers += 1) answer(5);
  expect(limiter.isProven('a')).toBe(true);
  answer(1_001);
  expect([limiter.isProven('a'), limiter.slots().get('a')], 'none ahead').toEqual([false, 32]);
  for (let begun = 0; begun < 32; begun += 1) limiter.begin('a');
  expect(limiter.free, 'with those that have not proven themselves').toBe(384 - 32);
  limiter.end('a', 1_000);
  expect([limiter.isProven('a'), limiter.free]).toEqual([true, 384]);
});

it('limiter stay as they are after an attempt that was not made', () => {
  const limiter = createEndpointLimiter(512);
  const notMade = () => {
    limiter.begin('a');
    limiter.giveBack('a');
  };
  notMade();
  expect([limiter.slots().get('a'), limiter.free]).toEqual([2, 384]);
  limiter.begin('a');
  limiter.end('a', 100);
  notMade();
  expect([limiter.isProven('a'), limiter.slots().get('a')]).toEqual([true, 3]);
});

it('limiter count what is under way of an endpoint that they forgot', () => {
  const limiter = createEndpointLimiter(1_000_000);
  limiter.begin('forgotten');
  limiter.begin('forgotten');
  for (let other = 0; other < 10_001; other += 1) {
    limiter.begin(`other ${other}`);
    limiter.end(`other ${other}`, 100);
  }
  expect(limiter.slots().get('forgotten')).toBe(0);
  limiter.end('forgotten', 100);
  expect(limiter.slots().get('forgotten')).toBe(2);
});
