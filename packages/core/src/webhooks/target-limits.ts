import { createShares, type FairShares } from '../limits/shares.ts';
import type { OwnerName } from '../ports/shares.ts';
import { nodeTimer, type Schedule } from '../time/clock.ts';

/** Maximum number of concurrent requests to one IP address, all partners together. Further requests wait. */
export const maxAtAddress = 64;

/** Longest wait of a request for a place at its IP address, in milliseconds. After that it is not sent. */
const maxWaitMs = 5_000;

/**
 * Time until the next try of a delivery or signature check that could not be sent because too many requests to
 * its address were running, in milliseconds.
 */
export const fullTargetMs = 1_000;

/** A place among the concurrent requests to an IP address, which one request occupies. */
export interface Place {
  /**
   * Counts the request at the IP address that was actually reached, if this is another address of the target
   * than expected.
   * @returns false if the other address has no free place: then the request must not be sent
   */
  moveTo(address: string): boolean;
  /** Frees the place. Must be called once, when the request has ended. */
  leave(): void;
}

/** Ends the wait of a request for a place: `true` with a place, `false` without one. */
type EndWait = (isAdmitted: boolean) => void;

/**
 * State of one IP address: the running requests, and the requests that wait for it by owner, in the order of
 * their arrival.
 */
interface Target {
  readonly shares: FairShares;
  readonly waiting: Map<OwnerName, Set<EndWait>>;
  underWay: number;
}

export type TargetLimits = ReturnType<typeof createTargetLimits>;

/**
 * Limits the concurrent requests to one IP address, over all host names. Partners and modes divide the
 * places, so that hanging endpoints of one partner do not delay the events of others on the same server.
 */
export function createTargetLimits(schedule: Schedule = nodeTimer) {
  const targets = new Map<string, Target>();

  function targetAt(address: string): Target {
    const known = targets.get(address);
    if (known !== undefined) return known;
    const target: Target = { shares: createShares(maxAtAddress), waiting: new Map(), underWay: 0 };
    targets.set(address, target);
    return target;
  }

  function begin(target: Target, owner: OwnerName): void {
    target.shares.begin(owner);
    target.underWay += 1;
  }

  /** Lets waiting requests start while their owners may take another place, live mode first. */
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

  /** Waits for a free place at an IP address. Resolves with whether the request got one. */
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
     * Resolves with a place when a request to the IP address may start, or with `null` if none became free in
     * time: then the request must not be sent.
     */
    async enter(address: string, owner: OwnerName): Promise<Place | null> {
      const target = targetAt(address);
      if (target.shares.hasRoom(owner)) begin(target, owner);
      else if (!(await admitted(target, owner))) return null;
      return placeAt(address, owner);
    },
    /** Ends the wait of all requests that wait for a place. None of them gets one. */
    turnAway(): void {
      for (const { waiting } of targets.values())
        for (const owners of [...waiting.values()]) for (const endWait of [...owners]) endWait(false);
    },
  };
}
