import { type Resolve, TargetError, type TargetPolicy, targetAddresses } from './targets.ts';

/** The attempt was given up while its host was looked up. */
export class AbortedLookup extends Error {
  override readonly name = 'AbortedLookup';
  readonly code = 'ABORT_ERR';
}

/** Looks up the hosts of targets, each within a time limit. */
export function createLookups(policy: TargetPolicy, resolve: Resolve, timeoutMs: number) {
  const underWay = new Set<(error: Error) => void>();
  return {
    /**
     * Finds the addresses of a target's host and checks each.
     * @throws TargetError if there is none in time, or one of them is not allowed
     * @throws AbortedLookup
     */
    async addressesOf(target: URL): Promise<readonly string[]> {
      const { promise, resolve: found, reject } = Promise.withResolvers<readonly string[]>();
      const timer = setTimeout(() => reject(new TargetError('The lookup took too long.')), timeoutMs);
      underWay.add(reject);
      targetAddresses(target, policy, resolve).then(found, reject);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        underWay.delete(reject);
      }
    },
    /** Ends the lookups under way. */
    abort(): void {
      for (const reject of underWay) reject(new AbortedLookup('The attempt was given up'));
    },
  };
}
