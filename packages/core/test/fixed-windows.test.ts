import { describe, expect, it } from 'vitest';
import { fixedWindows } from '../src/fixed-windows.ts';

const ask = (bucket: string, now: number, limit = 1_000_000) => ({ bucket, limit, windowMs: 1_000, now });

describe('fixed windows', () => {
  it('begin with the first event of a key and end when they are full of time', async () => {
    const windows = fixedWindows();
    expect(await windows.consume(ask('a', 500))).toEqual({ allowed: true, count: 1, endsAt: 1_500 });
    expect(await windows.consume(ask('a', 1_499))).toEqual({ allowed: true, count: 2, endsAt: 1_500 });
    expect(await windows.consume(ask('a', 1_500))).toEqual({ allowed: true, count: 1, endsAt: 2_500 });
  });

  it('count each key by itself, and can be read without counting', async () => {
    const windows = fixedWindows();
    expect(await windows.peek(ask('a', 0))).toEqual({ allowed: true, count: 0, endsAt: 1_000 });
    await windows.consume(ask('a', 0));
    expect(await windows.consume(ask('b', 1))).toEqual({ allowed: true, count: 1, endsAt: 1_001 });
    for (let time = 0; time < 3; time += 1)
      expect(await windows.peek(ask('a', 10))).toMatchObject({ count: 1, endsAt: 1_000 });
    expect(await windows.peek(ask('a', 1_000))).toEqual({ allowed: true, count: 0, endsAt: 2_000 });
  });

  it('refuse without counting what is too much', async () => {
    const windows = fixedWindows();
    for (const allowed of [true, true, false, false])
      expect(await windows.consume(ask('a', 0, 2))).toMatchObject({ allowed });
    expect(await windows.peek(ask('a', 0, 2))).toEqual({ allowed: false, count: 2, endsAt: 1_000 });
  });

  it('forget the oldest keys rather than growing without end', async () => {
    const windows = fixedWindows();
    await windows.consume(ask('first', 0));
    await windows.consume(ask('first', 0));
    for (let key = 0; key < 100_000; key += 1) await windows.consume(ask(`key-${key}`, 1));
    expect((await windows.peek(ask('first', 1))).count).toBe(0);
    expect((await windows.peek(ask('key-99999', 1))).count).toBe(1);
  });

  it('forget keys whose window has ended, those of another length not', async () => {
    const windows = fixedWindows();
    const long = { ...ask('long', 0), windowMs: 5_000 };
    for (const request of [long, ask('short', 0), ask('later', 1_000)]) await windows.consume(request);
    expect((await windows.peek(ask('short', 1_000))).count).toBe(0);
    expect((await windows.peek({ ...long, now: 1_000 })).count).toBe(1);
  });
});
