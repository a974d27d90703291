/** Maximum numbers of open pages that get updates: per partner, and in the process. */
export interface Room {
  readonly partner: number;
  readonly process: number;
}

/** Releases the place of an open page. */
export type Leave = () => void;

/**
 * Counts the open pages of this process. The limit per partner keeps one partner from taking all places,
 * however many sessions it opens.
 */
export function createPlaces(room: Room) {
  const taken = new Map<string, number>();
  let all = 0;

  return {
    /** Number of open pages that are kept up to date. */
    taken: () => all,
    /** Takes a place for an open page. @returns a function that releases it; 429 if the partner's places are taken, 503 if all are */
    take(partner: string): Leave | 429 | 503 {
      const own = taken.get(partner) ?? 0;
      if (own >= room.partner) return 429;
      if (all >= room.process) return 503;
      taken.set(partner, own + 1);
      all += 1;
      return () => {
        const left = (taken.get(partner) ?? 0) - 1;
        if (left > 0) taken.set(partner, left);
        else taken.delete(partner);
        all -= 1;
      };
    },
  };
}
