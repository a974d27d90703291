import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { sharingCounts } from '../../../core/test/support/shared-counts.ts';
import { storageContract } from '../../src/contract/index.ts';
import { memoryStorage } from '../../src/memory.ts';

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
        const runOn = (change: (storage: Storage) => Partial<Storage>) => {
          const create = async () => {
            const storage = sharingCounts(memoryStorage());
            await storage.open();
            return { ...storage, ...change(storage) };
          };
          return storageContract(create, { rateLimits: true })
            .find((candidate) => candidate.name === name)
            ?.run();
        };
        await runOn(() => ({}));
        await expect(runOn(spoil)).rejects.toThrow();
      });
    }
  });
}
