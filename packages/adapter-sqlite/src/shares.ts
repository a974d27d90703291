import type { OwnerName, Shares } from '@ostiary/core/storage';

/**
 * Returns a function that says how many jobs or deliveries a claim may take for a partner and mode, or for
 * the host, by the rules of {@link Shares}.
 * @param owners - owners with due work, each once; if there are more owners than places, the first ones get one
 */
export function shareOfOwners(
  owners: readonly OwnerName[],
  shares: Shares | undefined,
): (owner: OwnerName) => number {
  if (shares === undefined) return () => Number.POSITIVE_INFINITY;
  const { free, most } = shares;
  const modeOf = (owner: OwnerName) => (owner.startsWith('test:') ? 'test' : 'live');
  const counted = owners.filter((owner) => owner !== '' && most.get(owner) !== 0);
  const served = Map.groupBy(counted, modeOf);
  const placed = new Set(
    Array.from(served, ([mode, ofMode]) => ofMode.slice(0, Math.max(0, free[mode]))).flat(),
  );
  return (owner) => {
    if (owner === '') return free.live;
    if (!placed.has(owner)) return 0;
    const part = Math.max(1, Math.floor(free[modeOf(owner)] / (counted.length + 1)));
    return Math.min(part, most.get(owner) ?? part);
  };
}
