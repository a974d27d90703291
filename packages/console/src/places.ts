/** Limits the number of pages that are kept up to date at once. */
export interface Room {
  readonly partner: number;
  readonly process: number;
}

/** Gives a place back. */
export type Leave = () => void;

/** The places of this process. One partner cannot take those of all others, however many sessions it opens. */
export function createPlaces(room: Room) {
  const taken = new Map<string, number>();
  let all = 0;

  return {
    /** Number of open pages that are kept up to date. */
    taken: () => all,
    /** @returns how to leave; without a place, the status that says whose places are taken: the partner's (429) or all (503) */
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
