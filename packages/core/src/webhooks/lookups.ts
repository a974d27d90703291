import { type Resolve, TargetError, type TargetPolicy, targetAddresses } from './targets.ts';

/** Thrown if an attempt was aborted during the DNS lookup of its host. */
class AbortedLookup extends Error {
  override readonly name = 'AbortedLookup';
  readonly code = 'ABORT_ERR';
}

/**
 * Creates two functions: `addressesOf` resolves the host name of a webhook target within a time limit and
 * checks its addresses, and `abort` ends the running DNS lookups.
 */
export function createLookups(policy: TargetPolicy, resolve: Resolve, timeoutMs: number) {
  const underWay = new Set<(error: Error) => void>();
  return {
    /**
     * Returns the IP addresses of a webhook target's host after checking each of them.
     * @throws TargetError if no address was found in time, or one of them is not allowed
     * @throws AbortedLookup if `abort` was called in the meantime
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
    /** Aborts the running DNS lookups. */
    abort(): void {
      for (const reject of underWay) reject(new AbortedLookup('The attempt was given up'));
    },
  };
}
