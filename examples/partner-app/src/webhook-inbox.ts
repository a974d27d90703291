import type { WebhookEvent } from '@ostiary/webhook-verifier';
import type { WebhookMode } from './config.ts';

/** A delivery that was verified, and what the shop did with it. */
export interface Arrival {
  readonly at: Date;
  /** `null` for a duplicate, which is acknowledged before it is read, and if the delivery does not say. */
  readonly attempt: number | null;
  readonly outcome: 'handled' | 'failed' | 'duplicate';
}

/** An event, and every delivery of it that arrived, in their order. */
export interface ReceivedEvent {
  readonly event: WebhookEvent;
  readonly arrivals: readonly Arrival[];
}

/** A delivery that could be anybody's. Nothing that it said is kept. */
export interface Refusal {
  readonly at: Date;
  readonly mode: WebhookMode;
  /** A code of the verifier. */
  readonly code: string;
}

/** Received events, in memory. The shop forgets them when it stops. */
export type WebhookInbox = ReturnType<typeof createWebhookInbox>;

const shownEvents = 50;
const shownArrivals = 20;
const shownRefusals = 10;

export function createWebhookInbox() {
  // A Map keeps the order of insertion, so the first one is the oldest.
  const received = new Map<string, ReceivedEvent>();
  let refusals: readonly Refusal[] = [];

  function add(event: WebhookEvent, arrival: Arrival): void {
    const arrivals = [...(received.get(event.id)?.arrivals ?? []), arrival].slice(-shownArrivals);
    received.set(event.id, { event, arrivals });
    const [oldest] = received.keys();
    if (oldest !== undefined && received.size > shownEvents) received.delete(oldest);
  }

  return {
    /** The latest first. */
    events: (): readonly ReceivedEvent[] => [...received.values()].reverse(),
    /** The latest first. */
    refusals: () => refusals,
    arrived: (event: WebhookEvent, attempt: number | null, outcome: 'handled' | 'failed'): void =>
      add(event, { at: new Date(), attempt, outcome }),
    /** An event that was handled came again. */
    repeated(id: string): void {
      const known = received.get(id);
      if (known !== undefined) add(known.event, { at: new Date(), attempt: null, outcome: 'duplicate' });
    },
    refused(mode: WebhookMode, code: string): void {
      refusals = [{ at: new Date(), mode, code }, ...refusals].slice(0, shownRefusals);
    },
  };
}
