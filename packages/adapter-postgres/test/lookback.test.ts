import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Lookback } from '../src/lookback.ts';

/** A lookback over groups, on a clock that only its looks and surveys move. */
function lookbackOver(groups: Map<string, number> | null) {
  const state = { groups, time: 0, lookMs: 1000, surveyMs: 500, surveys: 0, isDown: false };
  const lookback = new Lookback(
    async () => {
      state.surveys += 1;
      state.time += state.surveyMs;
      if (state.isDown) throw new Error('down');
      if (state.groups === null) return null;
      const { groups, surveyMs: tookMs } = state;
      return { groups: [...groups.keys()], oldest: [...groups.values()], tookMs };
    },
    () => state.time,
  );
  /** Claims; answers the bounds. A survey that it begins has ended when it resolves. */
  async function claim(now: number) {
    const bounds = lookback.bounds(now);
    await setImmediate();
    await lookback.timed(bounds, async () => {
      state.time += state.lookMs;
    });
    return bounds;
  }
  async function slowClaims(now: number) {
    for (let look = 0; look < 3; look += 1) expect(await claim(now)).toBeNull();
  }
  /** Claims slowly until a survey was made. */
  async function surveyed(now: number) {
    await slowClaims(now);
    expect(await claim(now), 'a claim does not wait for the survey').toBeNull();
    expect(state.surveys).toBe(1);
  }
  return Object.assign(state, { lookback, claim, slowClaims, surveyed });
}

const now = 1_000_000;

test('after three slow looks in a row claims begin at the oldest row of each group', async () => {
  const watched = lookbackOver(
    new Map([
      ['old', 7],
      ['young', now - 1],
    ]),
  );
  await watched.slowClaims(now);
  expect(watched.surveys).toBe(0);
  await watched.claim(now);
  expect(watched.surveys).toBe(1);
  const since = now - 10_000;
  const oldest = new Map([
    ['old', 7],
    ['young', since],
  ]);
  expect(await watched.claim(now)).toEqual({ oldest, since });
});

test('looks that are slow now and then are no reason', async () => {
  const watched = lookbackOver(new Map());
  for (const lookMs of [11, 11, 10, 11, 11, 1, 11]) {
    watched.lookMs = lookMs;
    expect(await watched.claim(now)).toBeNull();
  }
  expect(watched.surveys).toBe(0);
});

test('a look that fails slowly counts too', async () => {
  const watched = lookbackOver(new Map());
  const fail = async () => {
    watched.time += 1500;
    throw new Error('did not answer');
  };
  for (let look = 0; look < 3; look += 1) {
    await expect(watched.lookback.timed(null, fail)).rejects.toThrow('did not answer');
  }
  await watched.claim(now);
  expect(await watched.claim(now)).not.toBeNull();
});

test('surveys take an eleventh of the time at most, however short claims are', async () => {
  const watched = lookbackOver(new Map());
  await watched.surveyed(now);
  watched.lookMs = 1;
  const began = watched.time;
  while (watched.surveys < 11) await watched.claim(now);
  const tookMs = watched.time - began;
  expect((10 * watched.surveyMs) / tookMs).toBeCloseTo(1 / 11, 2);
});

test('while a survey is under way claims begin where they began before it', async () => {
  const watched = lookbackOver(new Map([['a', 7]]));
  await watched.surveyed(now);
  const bounds = watched.lookback.bounds(now);
  watched.time += 6000;
  watched.groups = new Map([['a', 9]]);
  expect(watched.lookback.bounds(now + 6000)).toBe(bounds);
  expect(watched.lookback.bounds(now + 6000)).toBe(bounds);
  expect(watched.surveys).toBe(2);
  await watched.claim(now);
  expect(watched.lookback.bounds(now + 6000)?.oldest).toEqual(new Map([['a', 9]]));
});

test('a quick survey ends it', async () => {
  const watched = lookbackOver(new Map());
  await watched.surveyed(now);
  watched.surveyMs = 9;
  watched.time += 6000;
  watched.lookMs = 1;
  await watched.claim(now);
  watched.surveyMs = 500;
  for (let look = 0; look < 20; look += 1) expect(await watched.claim(now)).toBeNull();
  expect(watched.surveys).toBe(2);
});

test('where claims are slow for another reason a quick survey is made once a second at most', async () => {
  const watched = lookbackOver(new Map());
  watched.surveyMs = 9;
  watched.lookMs = 11;
  const seconds = 10;
  while (watched.time < seconds * 1000) expect(await watched.claim(now)).toBeNull();
  expect(watched.surveys).toBeGreaterThan(seconds / 2);
  expect(watched.surveys).toBeLessThanOrEqual(seconds);
});

test('with too many groups, or where a survey fails, claims look at everything', async () => {
  const watched = lookbackOver(null);
  await watched.surveyed(now);
  watched.groups = new Map();
  for (let look = 0; look < 9; look += 1) expect(await watched.claim(now)).toBeNull();
  expect(watched.surveys, 'not at once again').toBe(1);
  watched.time += 10_000;
  await watched.claim(now);
  expect(await watched.claim(now)).not.toBeNull();
  watched.isDown = true;
  watched.time += 10_000;
  await watched.claim(now);
  expect(await watched.claim(now)).toBeNull();
  expect(watched.surveys).toBe(3);
});

test('where the clock went back claims look at everything until the next survey', async () => {
  const watched = lookbackOver(new Map());
  await watched.surveyed(now);
  expect((await watched.claim(now - 10_000))?.since).toBe(now - 10_000);
  expect(watched.surveys).toBe(1);
  expect(await watched.claim(now - 10_001)).toBeNull();
  expect(watched.surveys).toBe(2);
  expect((await watched.claim(now - 10_001))?.since).toBe(now - 20_001);
});
