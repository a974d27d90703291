import { createHook } from 'node:async_hooks';
import { onTestFinished } from 'vitest';

/**
 * Starts to count the password hashes that are computed in the thread pool. Returns a function that returns
 * the number so far.
 */
export function countHashes(): () => number {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') count += 1;
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  return () => count;
}
