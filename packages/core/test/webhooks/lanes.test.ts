import { describe, expect, it } from 'vitest';
import { createLanes } from '../../src/webhooks/lanes.ts';

describe('lanes of endpoints', () => {
  it('begin with two attempts, and widen by one with every answer up to 128', () => {
    const lanes = createLanes(512);
    expect([lanes.freeOfUnknown, lanes.free]).toEqual([2, 384]);
    for (let answers = 0; answers < 200; answers += 1) {
      lanes.begin('a');
      lanes.end('a', true);
    }
    expect(lanes.slots().get('a')).toBe(128);
    lanes.begin('a');
    expect(lanes.slots().get('a')).toBe(127);
  });

  it('let as many be claimed ahead of one that answers within 50 ms as it may have under way', () => {
    let waiting = 0;
    const lanes = createLanes(512, () => waiting);
    const slotsAfter = (answered: boolean, durationMs: number) => {
      lanes.begin('a');
      lanes.end('a', answered, durationMs);
      return lanes.slots().get('a');
    };
    expect(slotsAfter(true, 50)).toBe(2 * 3);
    waiting = 5;
    expect(lanes.slots().get('a')).toBe(1);
    waiting = 80;
    expect(lanes.slots().get('a')).toBe(0);
    waiting = 0;
    expect(slotsAfter(true, 51), 'of an endpoint that takes its time').toBe(4);
    expect(slotsAfter(false, 10), 'of one that did not answer').toBe(1);
  });

  it('leave one attempt to an endpoint that did not answer, until it answers', () => {
    const lanes = createLanes(512);
    for (let answers = 0; answers < 10; answers += 1) {
      lanes.begin('a');
      lanes.end('a', true);
    }
    lanes.begin('a');
    lanes.end('a', false);
    expect(lanes.slots().get('a')).toBe(1);
    lanes.begin('a');
    expect(lanes.slots().get('a')).toBe(0);
    lanes.end('a', true);
    expect(lanes.slots().get('a')).toBe(2);
  });

  it('keep a quarter of the worker for endpoints that answer, however many do not', () => {
    const lanes = createLanes(100);
    lanes.begin('healthy');
    lanes.end('healthy', true);
    let begun = 0;
    // As a worker does: claims no more than it is told there is room for.
    for (let endpoint = 0; endpoint < 1_000; endpoint += 1) {
      const room = Math.min(lanes.free, lanes.freeOfUnknown);
      for (let attempt = 0; attempt < room; attempt += 1) {
        lanes.begin(`dead ${endpoint}`);
        begun += 1;
      }
    }
    expect(begun).toBeLessThanOrEqual(75);
    expect(begun).toBeGreaterThan(60);
    expect(lanes.freeOfUnknown).toBe(0);
    expect(lanes.slots().get('healthy')).toBe(3);
    expect(lanes.free).toBe(100 - begun);
    // One that does not answer gives its place to the next one that has not been tried.
    lanes.end('dead 0', false);
    lanes.end('dead 0', false);
    for (let endpoint = 1; endpoint < 10; endpoint += 1) {
      lanes.end(`dead ${endpoint}`, false);
      lanes.end(`dead ${endpoint}`, false);
    }
    expect(lanes.freeOfUnknown).toBe(2);
    expect(lanes.slots().get('dead 0')).toBe(1);
  });

  it('count what is under way of one that they forgot', () => {
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
    expect(lanes.free).toBe(750_000);
  });
});
