import type { Mode } from './partners.ts';

/**
 * Name of a partner and mode in {@link Shares}: `live:acme` or `test:acme`. Sign-out notifications of a
 * client without a partner have a name per client, such as `live:client kafe`. Work of the host application
 * itself has the name `''`, counts as live, and may take every free place.
 */
export type OwnerName = '' | `${Mode}:${string}`;

/**
 * Limits for how many places of a claim each partner and mode ("owner") may take, so that work which hangs
 * never occupies every place. If `n` owners have due work, each takes at most `max(1, floor(free / (n + 1)))`
 * of its mode's places. Neither the host application nor owners whose `most` is 0 count towards `n`. If there
 * are more owners than places, the first owners get one place each.
 */
export interface Shares {
  /**
   * Number of free places for each mode. All work in test mode together takes at most `test` places; live
   * mode gets the rest.
   */
  readonly free: Readonly<Record<Mode, number>>;
  /** Maximum number of places per owner. Owners without an entry are limited only by their share. */
  readonly most: ReadonlyMap<OwnerName, number>;
}
