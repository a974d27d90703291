/** Maximum numbers of open pages that get updates in one process: of one partner, and of all partners. */
export interface Room {
  readonly partner: number;
  readonly process: number;
}

/** Function that ends the updates of an open page, so that another page may get them. */
export type Leave = () => void;

/**
 * Counts open pages of this process that get updates. The sandbox console and the portal for live data have
 * one count each. The limit per partner keeps one partner from using up the limit of the process, with any
 * number of sessions.
 */
export function createPlaces(room: Room) {
  const taken = new Map<string, number>();
  let all = 0;

  return {
    /** Number of open pages that are kept up to date. */
    taken: () => all,
    /**
     * Registers an open page for updates. @returns a function that ends this; 429 if the partner has too many
     * open pages, 503 if the process has too many
     */
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
