import { describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/http/rate-limit.ts';

describe('fixed windows', () => {
  it('begin with the first event of a key and end when they are full of time', () => {
    const windows = fixedWindows(1_000);
    expect(windows.add('a', 500)).toEqual({ count: 1, endsAt: 1_500 });
    expect(windows.add('a', 1_499)).toEqual({ count: 2, endsAt: 1_500 });
    expect(windows.add('a', 1_500)).toEqual({ count: 1, endsAt: 2_500 });
  });

  it('count each key by itself', () => {
    const windows = fixedWindows(1_000);
    windows.add('a', 0);
    expect(windows.add('b', 1)).toEqual({ count: 1, endsAt: 1_001 });
    expect(windows.read('a', 1).count).toBe(1);
  });

  it('can be read without counting', () => {
    const windows = fixedWindows(1_000);
    expect(windows.read('a', 0)).toEqual({ count: 0, endsAt: 1_000 });
    windows.add('a', 0);
    for (let time = 0; time < 3; time += 1)
      expect(windows.read('a', 10)).toMatchObject({ count: 1, endsAt: 1_000 });
    expect(windows.read('a', 1_000)).toEqual({ count: 0, endsAt: 2_000 });
  });

  it('forget the oldest keys rather than growing without end', () => {
    const windows = fixedWindows(1_000);
    windows.add('first', 0);
    windows.add('first', 0);
    for (let key = 0; key < 100_000; key += 1) windows.add(`key-${key}`, 1);
    expect(windows.read('first', 1).count).toBe(0);
    expect(windows.read('key-99999', 1).count).toBe(1);
  });

  it('forget keys whose window has ended', () => {
    const windows = fixedWindows(1_000);
    for (let key = 0; key < 100; key += 1) windows.add(`key-${key}`, 0);
    windows.add('later', 1_000);
    for (let key = 0; key < 100; key += 1) expect(windows.read(`key-${key}`, 1_000).count).toBe(0);
  });
});
