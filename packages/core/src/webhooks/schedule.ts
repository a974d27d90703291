/**
 * When the next attempt is due (specification, "Webhook delivery attempts").
 * @param delaysMs - the waits after the first attempt, the second and so on
 * @param attempt - the number of the one that failed
 * @param endedAt - when it ended, in milliseconds since the Unix epoch
 * @returns `null` when it was the last one
 */
export function nextAttemptAt(delaysMs: readonly number[], attempt: number, endedAt: number): number | null {
  const delay = delaysMs[attempt - 1];
  return delay === undefined ? null : endedAt + delay;
}
