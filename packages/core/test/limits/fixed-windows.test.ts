import { describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/limits/fixed-windows.ts';

const ask = (bucket: string, now: number, limit = 1_000_000) => ({ bucket, limit, windowMs: 1_000, now });

// Covers the keys that fixed windows forget. The tests of request limits cover counting.
describe('fixed windows', () => {
  it('forget the oldest keys rather than growing without end', async () => {
    const windows = fixedWindows();
    await windows.consume(ask('first', 0));
    await windows.consume(ask('first', 0));
    for (let key = 0; key < 100_000; key += 1) await windows.consume(ask(`key-${key}`, 1));
    const looked = await windows.peek([ask('first', 1), ask('key-99999', 1)]);
    expect(looked.map(({ count }) => count)).toEqual([0, 1]);
  });

  it('forget keys whose window has ended, those of another length not', async () => {
    const windows = fixedWindows();
    const long = { ...ask('long', 0), windowMs: 5_000 };
    for (const request of [long, ask('short', 0), ask('later', 1_000)]) await windows.consume(request);
    const looked = await windows.peek([ask('short', 1_000), { ...long, now: 1_000 }]);
    expect(looked.map(({ count }) => count)).toEqual([0, 1]);
  });
});
