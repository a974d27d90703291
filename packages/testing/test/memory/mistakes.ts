import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { storageContract } from '../../src/contract/index.ts';
import { memoryStorage } from '../../src/memory/index.ts';

/** Adapters with one plausible mistake each, and a case of the contract that must notice. */
export type Mistakes = Readonly<
  Record<string, { readonly case: string; readonly spoil: (storage: Storage) => Partial<Storage> }>
>;

export function describeMistakes(mistakes: Mistakes): void {
  describe('the contract catches a storage that', () => {
    for (const [mistake, { case: name, spoil }] of Object.entries(mistakes)) {
      test(mistake, async () => {
        const create = async () => {
          const storage = memoryStorage();
          await storage.open();
          return { ...storage, ...spoil(storage) };
        };
        const cases = storageContract(create, { rateLimits: true });
        const broken = cases.find((candidate) => candidate.name === name);
        await expect(broken?.run()).rejects.toThrow();
      });
    }
  });
}
