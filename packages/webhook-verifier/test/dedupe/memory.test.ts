import { describe, expect, it } from 'vitest';
import { memoryDedupe } from '../../src/dedupe/index.ts';
import { dedupeContract } from './contract.ts';

dedupeContract('in memory', () => {
  const store = memoryDedupe();
  return { store, elsewhere: store, close: () => undefined };
});

describe('the memory of a dedupe store', () => {
  it('is limited: the oldest events are removed, but not claims', async () => {
    const store = memoryDedupe({ most: 2 });
    const claim = (id: string) => store.claim({ id, token: 'a', now: 0, leaseMs: 1_000 });
    await claim('evt_held');
    for (const id of ['evt_1', 'evt_2', 'evt_3']) {
      await claim(id);
      await store.complete({ id, token: 'a', now: 0 });
    }
    expect(await claim('evt_3')).toBe('completed');
    expect(await claim('evt_2')).toBe('completed');
    expect(await claim('evt_1')).toBe('claimed');
    expect(await claim('evt_held')).toBe('busy');
  });

  it.each([0, -1, 1.5, Number.NaN])('is never %d', (most) => {
    expect(() => memoryDedupe({ most })).toThrow(TypeError);
  });
});
