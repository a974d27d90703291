import type { InteractionStore } from '@ostiary/core/storage';
import type { Step } from './step.ts';
import { bytesKey } from './tables.ts';

export function memoryInteractions(step: Step): InteractionStore {
  return {
    count: (now) =>
      step((tables) => [...tables.interactions.values()].filter(({ expiresAt }) => expiresAt > now).length),

    save: (digest, payload, expiresAt) =>
      step((tables) => {
        tables.interactions.set(bytesKey(digest), { payload: JSON.stringify(payload), expiresAt });
      }),

    replace: (digest, payload, expiresAt) =>
      step((tables) => {
        const key = bytesKey(digest);
        if (!tables.interactions.has(key)) return false;
        tables.interactions.set(key, { payload: JSON.stringify(payload), expiresAt });
        return true;
      }),

    extend: (digest, expiresAt) =>
      step((tables) => {
        const key = bytesKey(digest);
        const row = tables.interactions.get(key);
        if (row !== undefined && row.expiresAt < expiresAt)
          tables.interactions.set(key, { ...row, expiresAt });
      }),

    find: (digest, now) =>
      step((tables) => {
        const row = tables.interactions.get(bytesKey(digest));
        return row === undefined || row.expiresAt <= now ? null : JSON.parse(row.payload);
      }),

    remove: (digest) => step((tables) => tables.interactions.delete(bytesKey(digest))),
  };
}
