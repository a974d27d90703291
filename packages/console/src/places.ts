/** How many pages are kept up to date at once, at most. */
export interface Room {
  readonly session: number;
  readonly partner: number;
  readonly process: number;
}

/** Who takes a place. */
interface Guest {
  readonly session: string;
  readonly partner: string;
}

/** Gives a place back. */
export type Leave = () => void;

/** The places of this process. One partner cannot take those of all others, however many sessions it opens. */
export function createPlaces(room: Room) {
  const taken = new Map<string, number>();
  let all = 0;

  function add(name: string, by: 1 | -1): void {
    const count = (taken.get(name) ?? 0) + by;
    if (count === 0) taken.delete(name);
    else taken.set(name, count);
  }

  return {
    /** How many are taken. */
    taken: () => all,
    /** @returns how to leave; without a place, the status that says whose places are taken: the guest's (429) or all (503) */
    take({ session, partner }: Guest): Leave | 429 | 503 {
      const names = [`session ${session}`, `partner ${partner}`] as const;
      const [ofSession = 0, ofPartner = 0] = names.map((name) => taken.get(name));
      if (ofSession >= room.session || ofPartner >= room.partner) return 429;
      if (all >= room.process) return 503;
      for (const name of names) add(name, 1);
      all += 1;
      return () => {
        for (const name of names) add(name, -1);
        all -= 1;
      };
    },
  };
}
