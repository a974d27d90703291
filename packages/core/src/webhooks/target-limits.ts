import { createShares, type FairShares } from '../limits/shares.ts';
import type { OwnerName } from '../ports/shares.ts';
import { nodeTimer, type Schedule } from '../worker/looking.ts';

/** Maximum number of attempts at one address at once, all partners together. */
const atOnce = 64;

/** Maximum wait of an attempt for a place at its address, in milliseconds. */
const maxWaitMs = 5_000;

/** Wait after which an attempt that found no place is made anew, in milliseconds. */
export const fullTargetMs = 1_000;

/** Place of an attempt at an address. */
export interface Place {
  /**
   * Moves the place to the address that was reached, which may be another one of the host.
   * @returns whether that address had room
   */
  moveTo(address: string): boolean;
  /** Frees the place. Must be called once, when the attempt has ended. */
  leave(): void;
}

/** Ends the wait of an attempt, with a place or without one. */
type EndWait = (isAdmitted: boolean) => void;

/** Attempts under way at one address, and those that wait for it, by owner in the order of their arrival. */
interface Target {
  readonly shares: FairShares;
  readonly waiting: Map<OwnerName, Set<EndWait>>;
  underWay: number;
}

export type TargetLimits = ReturnType<typeof createTargetLimits>;

/**
 * Limits concurrent attempts at one address, for all names that lead there. Partners and modes share the
 * places, so that endpoints of one partner which hang do not keep the events of others from a server that
 * they have in common.
 */
export function createTargetLimits(schedule: Schedule = nodeTimer) {
  const targets = new Map<string, Target>();

  function targetAt(address: string): Target {
    const known = targets.get(address);
    if (known !== undefined) return known;
    const target: Target = { shares: createShares(atOnce), waiting: new Map(), underWay: 0 };
    targets.set(address, target);
    return target;
  }

  function begin(target: Target, owner: OwnerName): void {
    target.shares.begin(owner);
    target.underWay += 1;
  }

  /** Admits attempts that wait, as long as their owners have room; live mode first. */
  function admitWaiting({ shares, waiting }: Target): void {
    const owners = [...waiting.keys()];
    const isTest = (owner: OwnerName) => owner.startsWith('test:');
    for (const owner of [...owners.filter((name) => !isTest(name)), ...owners.filter(isTest)])
      for (const endWait of waiting.get(owner) ?? []) {
        if (!shares.hasRoom(owner)) break;
        endWait(true);
      }
  }

  function end(address: string, owner: OwnerName): void {
    const target = targetAt(address);
    target.shares.end(owner);
    target.underWay -= 1;
    admitWaiting(target);
    if (target.underWay === 0 && target.waiting.size === 0) targets.delete(address);
  }

  /** Waits for room at an address. Resolves with whether the attempt was admitted. */
  async function admitted(target: Target, owner: OwnerName): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const others = target.waiting.get(owner) ?? new Set();
    const endWait: EndWait = (isAdmitted) => {
      others.delete(endWait);
      if (others.size === 0) target.waiting.delete(owner);
      if (isAdmitted) begin(target, owner);
      resolve(isAdmitted);
    };
    target.waiting.set(owner, others.add(endWait));
    const cancel = schedule(() => endWait(false), maxWaitMs);
    const isAdmitted = await promise;
    cancel();
    return isAdmitted;
  }

  function placeAt(first: string, owner: OwnerName): Place {
    let address = first;
    return {
      moveTo(reached) {
        if (reached === address) return true;
        const target = targetAt(reached);
        if (!target.shares.hasRoom(owner)) return false;
        begin(target, owner);
        end(address, owner);
        address = reached;
        return true;
      },
      leave: () => end(address, owner),
    };
  }

  return {
    /** Resolves with a place when an attempt may begin. Resolves with `null` if none became free in time: the attempt must not be made. */
    async enter(address: string, owner: OwnerName): Promise<Place | null> {
      const target = targetAt(address);
      if (target.shares.hasRoom(owner)) begin(target, owner);
      else if (!(await admitted(target, owner))) return null;
      return placeAt(address, owner);
    },
    /** Turns away the attempts that wait for a place. */
    turnAway(): void {
      for (const { waiting } of targets.values())
        for (const owners of [...waiting.values()]) for (const endWait of [...owners]) endWait(false);
    },
  };
}
