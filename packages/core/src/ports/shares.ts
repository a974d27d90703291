import type { Mode } from './partners.ts';

/**
 * Name of a partner and mode in {@link Shares}: `live:acme` or `test:acme`. Work of the host itself, which
 * has no partner, has the name `''`, counts as live, and may take every free place.
 */
export type OwnerName = '' | `${Mode}:${string}`;

/**
 * Number of places that a claim may take for each partner and mode, so that work which hangs never occupies
 * every place. If `n` owners have due work, none takes more than its part of `n + 1`: `max(1, floor(free / (n
 * + 1)))`, with the places of its mode. Owners whose `most` is 0 are not counted, and neither is the host. If
 * there are more owners than places, the first ones get one each.
 */
export interface Shares {
  /** Places that may be taken. Test mode, all partners together, takes no more than `test`, and the remaining places are live mode's. */
  readonly free: Readonly<Record<Mode, number>>;
  /** At most so many of the owner. Owners that are not named have no bound but their part. */
  readonly most: ReadonlyMap<OwnerName, number>;
}
