import type { OwnerName, Shares } from '@ostiary/core/storage';

/**
 * Returns how many pieces of work each owner may have of a claim: see {@link Shares}.
 * @param owners - those that have work which is due, each once; in test mode the first ones get something
 */
export function roomOfOwners(
  owners: readonly OwnerName[],
  shares: Shares | undefined,
): (owner: OwnerName) => number {
  if (shares === undefined) return () => Number.POSITIVE_INFINITY;
  const { free, most } = shares;
  const served = owners.filter((owner) => most.get(owner) !== 0);
  const partOf = (places: number) => Math.max(1, Math.floor(places / (served.length + 1)));
  const isTest = (owner: OwnerName) => owner.startsWith('test:');
  const tests = new Set(served.filter(isTest).slice(0, Math.max(0, free.test)));
  return (owner) => {
    if (isTest(owner) && !tests.has(owner)) return 0;
    const part = partOf(isTest(owner) ? free.test : free.live);
    return Math.min(part, most.get(owner) ?? part);
  };
}
