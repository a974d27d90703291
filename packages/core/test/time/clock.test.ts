import { expect, it } from 'vitest';
import { FollowedClock, wholeMs } from '../../src/time/clock.ts';

const hour = 3_600_000;

function followed(time: number) {
  const source = { time };
  const steps: number[] = [];
  const clock = new FollowedClock({ now: () => source.time });
  clock.onStepBack((backMs) => void steps.push(backMs));
  return { source, steps, clock };
}

it.each([1, 2_000])('a step back of %d ms is held back until the source has caught up', (back) => {
  const { source, steps, clock } = followed(10 * hour);
  expect(clock.now()).toBe(10 * hour);
  source.time -= back;
  expect(clock.now()).toBe(10 * hour);
  source.time += back - 1;
  expect(clock.now()).toBe(10 * hour);
  source.time += 2;
  expect(clock.now()).toBe(10 * hour + 1);
  expect(steps).toEqual([]);
});

it.each([2_001, hour, 9 * hour])('a step back of %d ms is followed, and reported once', (back) => {
  const { source, steps, clock } = followed(10 * hour);
  clock.now();
  source.time -= back;
  expect([clock.now(), clock.now()]).toEqual([source.time, source.time]);
  source.time += 1;
  expect(clock.now()).toBe(source.time);
  expect(steps).toEqual([back]);
});

it('small steps back add up: time stops for at most two seconds', () => {
  const { source, steps, clock } = followed(10 * hour);
  clock.now();
  for (let step = 0; step < 10; step += 1) {
    source.time -= 900;
    expect(clock.now() - source.time).toBeLessThanOrEqual(2_000);
  }
  expect(steps).toEqual([2_700, 2_700, 2_700]);
});

it('a step ahead is followed at once', () => {
  const { source, steps, clock } = followed(0);
  clock.now();
  source.time += 24 * hour;
  expect(clock.now()).toBe(24 * hour);
  expect(steps).toEqual([]);
});

it('a clock with parts of milliseconds is read in whole ones', () => {
  const { source, steps, clock } = followed(10 * hour + 0.75);
  expect(clock.now()).toBe(10 * hour);
  source.time += 0.5;
  expect(clock.now()).toBe(10 * hour + 1);
  expect(steps).toEqual([]);
});

it.each([
  [60, 60_000],
  [16.1, 16_100],
  [60 * 1.5 ** 6, 683_438],
  [0.000_1, 1],
])('%d seconds are %d whole milliseconds', (seconds, ms) => {
  expect(wholeMs(seconds)).toBe(ms);
});
