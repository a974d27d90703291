import { uniqueToken } from '#platform';

/** Result of a claim. The caller that gets `claimed` handles the event alone until its lease ends. */
export type ClaimOutcome = 'claimed' | 'busy' | 'completed';

/** A claim of one event. */
export interface DedupeClaim {
  /** The event's id. */
  readonly id: string;
  /** Names this claim; no other claim has it. */
  readonly token: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /**
   * Length of the lease in milliseconds. No other caller gets the event before its end, unless the claim is
   * released.
   */
  readonly leaseMs: number;
}

/**
 * Remembers which events were handled. Stores read no clock. A rejection means that the store cannot be reached: the delivery
 * is answered with 500 and comes again.
 */
export interface DedupeStore {
  /**
   * Claims an event. Exactly one of several parallel claims gets `claimed`. A claim whose lease has ended is
   * taken over, because its handler is presumed dead.
   */
  claim(claim: DedupeClaim): Promise<ClaimOutcome>;
  /** Marks an event as `completed`, even if another caller holds a claim of it. */
  complete(event: { readonly id: string; readonly token: string; readonly now: number }): Promise<void>;
  /** The handler failed: the next delivery gets the event at once. Does nothing when the token holds no claim. */
  release(event: { readonly id: string; readonly token: string }): Promise<void>;
}

/** Options of claims. */
export interface OnceOptions {
  readonly store: DedupeStore;
  /**
   * For how long a handler may run before another delivery of the same event takes over, in milliseconds. Shorter than the
   * minute between the first two attempts, so that the second one finds a crashed handler's claim expired.
   * @defaultValue 45 000
   */
  readonly leaseMs?: number | undefined;
  /** The present, in milliseconds. @defaultValue `Date.now` */
  readonly now?: (() => number) | undefined;
}

/**
 * Runs a handler unless the event was handled already, and remembers that it was. A handler that throws leaves the event to the next
 * delivery, and so does a process that dies. What a handler has done before it died is done again: let its effects be
 * idempotent by the event's id where that matters.
 * @returns `duplicate` when the event was handled before, `busy` while another handler has it
 * @throws whatever the handler or the store throws
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
    // Without a release the lease ends by itself; the handler's error is the one to tell.
    await store.release({ id, token }).catch(() => undefined);
    throw error;
  }
  await store.complete({ id, token, now: now() });
  return 'handled';
}
