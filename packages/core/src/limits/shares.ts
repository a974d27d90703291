import type { Mode, Owner } from '../ports/partners.ts';
import type { OwnerName, Shares } from '../ports/shares.ts';

/** Fraction of a worker's concurrent tasks that test mode may take, all partners together. */
const testPart = 0.5;

/**
 * Returns the name under which the work of a partner in one mode is counted when workers divide their places
 * fairly; `null` stands for the host application itself.
 */
export function ownerName(owner: Owner | null): OwnerName {
  return owner === null ? '' : `${owner.mode}:${owner.partner}`;
}

/** Returns the mode (live or test) of an owner of work; the host application counts as live. */
export function modeOf(name: OwnerName): Mode {
  return name.startsWith('test:') ? 'test' : 'live';
}

export type FairShares = ReturnType<typeof createShares>;

/**
 * Divides the concurrent tasks ("places") of a worker fairly among partners and modes. An owner may take
 * another place while it has fewer places than are free. So one owner takes at most half of the places, two
 * take at most a third each, and some always stay free for an owner that comes later, however long the work
 * of the others hangs. Test mode divides half of the places in the same way. The host application's own work
 * may take every free place.
 *
 * @param total - number of places; 1 or more
 */
export function createShares(total: number) {
  const forTest = Math.max(1, Math.floor(total * testPart));
  const underWay = new Map<OwnerName, number>();
  const taken = { live: 0, test: 0 };

  function change(name: OwnerName, by: 1 | -1): void {
    const count = (underWay.get(name) ?? 0) + by;
    if (count === 0) underWay.delete(name);
    else underWay.set(name, count);
    taken[modeOf(name)] += by;
  }

  function free(): Shares['free'] {
    const live = total - taken.live - taken.test;
    return { live, test: Math.min(live, forTest - taken.test) };
  }

  /** Returns how many more concurrent tasks an owner may start. */
  const mostOf = (name: OwnerName, { live, test }: Shares['free']): number => {
    if (name === '') return live;
    const left = (modeOf(name) === 'test' ? test : live) - (underWay.get(name) ?? 0);
    return Math.max(0, Math.ceil(left / 2));
  };

  return {
    begin: (name: OwnerName): void => change(name, 1),
    /**
     * Ends a concurrent task of an owner, which frees its place.
     * @returns true if a quarter of the places that the owner may have are free now and were not before, so
     * that it is time to claim again
     */
    end(name: OwnerName): boolean {
      const isQuarterFree = () => {
        const more = mostOf(name, free());
        return more * 4 >= (underWay.get(name) ?? 0) + more;
      };
      const was = isQuarterFree();
      change(name, -1);
      return !was && isQuarterFree();
    },
    /** Checks whether an owner may start one more concurrent task now. */
    hasRoom: (name: OwnerName): boolean => mostOf(name, free()) > 0,
    /** Returns the free places and the limits of owners with running tasks, as a claim of work needs them. */
    forClaim(): Shares {
      const places = free();
      return {
        free: places,
        most: new Map(Array.from(underWay.keys(), (name) => [name, mostOf(name, places)])),
      };
    },
  };
}
