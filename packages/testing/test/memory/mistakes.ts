import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { storageContract } from '../../src/contract/index.ts';
import { memoryStorage } from '../../src/memory/index.ts';

/** What a storage does wrong, the contract case that has to notice, and how to make it wrong. */
export type Mistakes = Readonly<
  Record<string, { readonly case: string; readonly spoil: (storage: Storage) => Partial<Storage> }>
>;

/** A storage of which one noun differs in these calls. */
export const differing =
  <Noun extends keyof Storage>(noun: Noun, calls: (storage: Storage) => Partial<Storage[Noun]>) =>
  (storage: Storage): Partial<Storage> => ({ [noun]: { ...storage[noun], ...calls(storage) } });

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
