import assert from 'node:assert/strict';
import type { CountedPeriod, HourlyCount, Storage } from '@ostiary/core/storage';
import { assertFields, assertSame, assertUnavailable, type Calls, casesOf, inParallel } from './case.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Beginning of the day that the samples of hourly counts use. */
const day = 20_000 * dayMs;

const sampleCount = (count: number, changes: Partial<HourlyCount> = {}): HourlyCount => ({
  ...{ name: 'sign_ins', mode: 'live', count },
  ...changes,
});

const sampleRow = (at: number, total: number, changes: Partial<CountedPeriod> = {}): CountedPeriod => ({
  ...{ at, name: 'sign_ins', mode: 'live', total, peak: total },
  ...changes,
});

const hoursOf = ({ hourlyCounts }: Storage, from = day, to = day + dayMs) =>
  hourlyCounts.read({ from, to, periodMs: hourMs });

export const hourlyCountCases = casesOf('hourly counts', {
  'numbers of one hour add up, by name and mode, with the largest of them': async (storage) => {
    const { hourlyCounts } = storage;
    const all = [
      sampleCount(3),
      sampleCount(5, { mode: 'test' }),
      sampleCount(7, { name: 'wait_ms' }),
      sampleCount(0, { name: 'nothing' }),
    ];
    await hourlyCounts.add(all, day);
    await hourlyCounts.add([sampleCount(1), sampleCount(2, { name: 'wait_ms' })], day + hourMs - 1);
    await hourlyCounts.add([], day);
    assertSame(await hoursOf(storage), [
      sampleRow(day, 0, { name: 'nothing' }),
      sampleRow(day, 4, { peak: 3 }),
      sampleRow(day, 5, { mode: 'test' }),
      sampleRow(day, 9, { name: 'wait_ms', peak: 7 }),
    ]);
  },

  'an hour ends with its last millisecond, and a clock that goes back adds to the hour that it shows': async (
    storage,
  ) => {
    const { hourlyCounts } = storage;
    const times = [day + hourMs - 1, day + hourMs, day + 3 * hourMs, day + 1];
    for (const now of times) await hourlyCounts.add([sampleCount(1)], now);
    assertSame(await hoursOf(storage), [
      sampleRow(day, 2, { peak: 1 }),
      sampleRow(day + hourMs, 1),
      sampleRow(day + 3 * hourMs, 1),
    ]);
  },

  'hours are read from the first one and before the end, and summed up in periods': async (storage) => {
    const { hourlyCounts } = storage;
    for (const hour of [-1, 0, 23, 24, 25, 48])
      await hourlyCounts.add([sampleCount(hour + 2)], day + hour * hourMs);
    assertFields(await hoursOf(storage, day, day + dayMs), 'total', [2, 25]);
    assertSame(await hourlyCounts.read({ from: day, to: day + 2 * dayMs, periodMs: dayMs }), [
      sampleRow(day, 27, { peak: 25 }),
      sampleRow(day + dayMs, 53, { peak: 27 }),
    ]);
    const odd = await hourlyCounts.read({ from: day - hourMs, to: day + dayMs, periodMs: dayMs });
    assertSame(odd, [sampleRow(day - hourMs, 3, { peak: 2 }), sampleRow(day + 23 * hourMs, 25)]);
  },

  'what processes add at the same time is all there': async (storage) => {
    const names = ['a', 'b', 'c', 'd'];
    await inParallel(24, (index) => {
      const counts = names.map((name) => sampleCount(index + 1, { name }));
      return storage.hourlyCounts.add(index % 2 === 0 ? counts : counts.toReversed(), day + index);
    });
    assertSame(
      await hoursOf(storage),
      names.map((name) => sampleRow(day, 300, { name, peak: 24 })),
    );
  },

  'a call that is refused adds nothing': async (storage) => {
    const bad = sampleCount(1, { name: 'bad', mode: 'other' as 'live' });
    await assertUnavailable(() => storage.hourlyCounts.add([sampleCount(1), bad], day));
    assertSame(await hoursOf(storage), []);
  },

  'hours before a time go, the oldest first': async (storage) => {
    const { hourlyCounts } = storage;
    for (const hour of [2, 0, 3, 1]) await hourlyCounts.add([sampleCount(hour)], day + hour * hourMs);
    assert.equal(await hourlyCounts.purge(day + 2 * hourMs, 1), 1);
    assertFields(await hoursOf(storage), 'total', [1, 2, 3]);
    assert.equal(await hourlyCounts.purge(day + 2 * hourMs, 10), 1);
    assert.equal(await hourlyCounts.purge(day + 2 * hourMs, 10), 0);
    assertFields(await hoursOf(storage), 'total', [2, 3]);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const hourlyCountCalls: Calls<'hourlyCounts'> = {
  add: ({ hourlyCounts }) => hourlyCounts.add([sampleCount(1)], day),
  read: (storage) => hoursOf(storage),
  purge: ({ hourlyCounts }) => hourlyCounts.purge(0, 1),
};
