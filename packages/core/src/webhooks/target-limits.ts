import { createShares, type FairShares } from '../limits/shares.ts';
import type { OwnerName } from '../ports/shares.ts';
import { nodeTimer, type Schedule } from '../worker/polling.ts';

/** Maximum number of concurrent attempts at one address, all partners together. */
const atOnce = 64;

/** Longest wait of an attempt for a place at its address, in milliseconds. */
const maxWaitMs = 5_000;

/** Time until the next try of an attempt that got no place, in milliseconds. */
export const fullTargetMs = 1_000;

/** A place that an attempt occupies at an address. */
export interface Place {
  /**
   * Moves the place to the address that was actually reached, if it is another address of the host.
   * @returns true if the other address had a free place
   */
  moveTo(address: string): boolean;
  /** Frees the place. Must be called once, when the attempt has ended. */
  leave(): void;
}

/** Ends the wait of an attempt, with a place (`true`) or without one. */
type EndWait = (isAdmitted: boolean) => void;

/** Running attempts at one address, and attempts waiting for it by owner, in the order of their arrival. */
interface Target {
  readonly shares: FairShares;
  readonly waiting: Map<OwnerName, Set<EndWait>>;
  underWay: number;
}

export type TargetLimits = ReturnType<typeof createTargetLimits>;

/**
 * Limits concurrent attempts at one IP address, whichever host name they use. Partners and modes share the
 * places, so that hanging endpoints of one partner do not keep the events of others from a server that they
 * share.
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

  /** Admits waiting attempts while their owners have free places, live mode first. */
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

  /** Waits for a free place at an address. Resolves with whether the attempt got one. */
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
    /**
     * Resolves with a place when an attempt may start, or with `null` if none became free in time: then the
     * attempt must not be made.
     */
    async enter(address: string, owner: OwnerName): Promise<Place | null> {
      const target = targetAt(address);
      if (target.shares.hasRoom(owner)) begin(target, owner);
      else if (!(await admitted(target, owner))) return null;
      return placeAt(address, owner);
    },
    /** Ends the wait of all attempts that wait for a place, without one. */
    turnAway(): void {
      for (const { waiting } of targets.values())
        for (const owners of [...waiting.values()]) for (const endWait of [...owners]) endWait(false);
    },
  };
}
