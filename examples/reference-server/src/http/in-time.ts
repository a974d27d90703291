/**
 * Waits for a promise at most `patienceMs` milliseconds. Returns `null` if the promise rejects or takes
 * longer.
 */
export async function inTime<Result>(work: Promise<Result>, patienceMs: number): Promise<Result | null> {
  const tooLate = Promise.withResolvers<null>();
  const timer = setTimeout(() => tooLate.resolve(null), patienceMs);
  try {
    return await Promise.race([work.catch(() => null), tooLate.promise]);
  } finally {
    clearTimeout(timer);
  }
}
