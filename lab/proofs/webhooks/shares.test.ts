import { describe, expect, it } from 'vitest';
import { proveShares } from './flood.ts';
import { emptyStorages } from './storages.ts';

describe.each(Object.entries(emptyStorages))('on %s', (_name, open) => {
  it.each(['test', 'live'] as const)(
    'a live event arrives within a second while the %s endpoints of another partner hang',
    async (mode) => {
      await using ends = new AsyncDisposableStack();
      expect((await proveShares(await open(ends), { mode, events: 200, samples: 10 })).problems).toEqual([]);
    },
  );
});
