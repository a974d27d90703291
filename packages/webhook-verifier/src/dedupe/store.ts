import { uniqueToken } from '#platform';

/**
 * Result of claiming an event. The caller that gets `claimed` handles the event alone until its lease ends.
 */
export type ClaimOutcome = 'claimed' | 'busy' | 'completed';

/** A request to claim one event. */
export interface DedupeClaim {
  /** Id of the event. */
  readonly id: string;
  /** Unique text that identifies this claim of the event. */
  readonly token: string;
  /** Current time, in milliseconds since the Unix epoch. */
  readonly now: number;
  /**
   * Length of the lease in milliseconds. Until it expires or the claim is released, no other caller gets the
   * event.
   */
  readonly leaseMs: number;
}

/**
 * Remembers which events were handled. Stores do not read a clock. A rejected promise means that the store is
 * unreachable: the webhook then gets status 500, and Ostiary sends it again.
 */
export interface DedupeStore {
  /**
   * Claims an event. Exactly one of several parallel claims of a free event gets `claimed`. A claim with an
   * expired lease is taken over, because its handler is presumed dead.
   */
  claim(claim: DedupeClaim): Promise<ClaimOutcome>;
  /** Marks an event as handled (`completed`), even if another caller has claimed it. */
  complete(event: { readonly id: string; readonly token: string; readonly now: number }): Promise<void>;
  /**
   * Releases the claim of an event after the handler failed, so that the next delivery is handled at once.
   * Does nothing if no claim has this token.
   */
  release(event: { readonly id: string; readonly token: string }): Promise<void>;
}

/** Options of {@link handleOnce}. */
export interface OnceOptions {
  readonly store: DedupeStore;
  /**
   * Maximum time that a handler may run before another delivery of the same event takes over, in
   * milliseconds. The default is shorter than the minute between the first two attempts, so that the second
   * one finds a crashed handler's claim expired.
   * @defaultValue 45 000
   */
  readonly leaseMs?: number | undefined;
  /** Returns the current time, in milliseconds since the Unix epoch. @defaultValue `Date.now` */
  readonly now?: (() => number) | undefined;
}

/**
 * Runs a handler unless the event was handled before or another call has claimed it, and remembers that it
 * was handled. If the handler throws, the next delivery runs it again; if its process dies, the first
 * delivery after the lease does. If that could do harm, make the handler's effects idempotent by the event's
 * id.
 * @returns `handled`; `duplicate` if the event was handled before; `busy` while another call has claimed it
 * @throws any error of the handler, or of the store when it claims or completes the event
 */
export async function handleOnce(
  id: string,
  handler: () => unknown,
  { store, leaseMs = 45_000, now = Date.now }: OnceOptions,
): Promise<'handled' | 'duplicate' | 'busy'> {
  const token = uniqueToken();
  const outcome = await store.claim({ id, token, now: now(), leaseMs });
  if (outcome !== 'claimed') return outcome === 'completed' ? 'duplicate' : 'busy';
  try {
    await handler();
  } catch (error) {
    // If the release fails, the lease still expires. Throw the handler's error, not this one.
    await store.release({ id, token }).catch(() => undefined);
    throw error;
  }
  await store.complete({ id, token, now: now() });
  return 'handled';
}
