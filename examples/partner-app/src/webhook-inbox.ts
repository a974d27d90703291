import type { WebhookEvent } from '@ostiary/webhook-verifier';
import type { WebhookMode } from './config.ts';

/** A verified webhook, and what the shop did with it. */
export interface Arrival {
  readonly at: Date;
  /**
   * Number of the attempt; `null` for a duplicate, whose headers are not read, and if the delivery has no
   * number.
   */
  readonly attempt: number | null;
  readonly outcome: 'handled' | 'failed' | 'duplicate';
}

/** An event with the last 20 webhooks that delivered it, in the order of arrival. */
export interface ReceivedEvent {
  readonly event: WebhookEvent;
  readonly arrivals: readonly Arrival[];
}

/** A webhook that was refused. Its content is not kept, because anybody may have sent it. */
export interface Refusal {
  readonly at: Date;
  readonly mode: WebhookMode;
  /** Error code with which the verifier refused the webhook. */
  readonly code: string;
}

/** Received webhook events in memory. The events are lost when the shop stops. */
export type WebhookInbox = ReturnType<typeof createWebhookInbox>;

const shownEvents = 50;
const shownArrivals = 20;
const shownRefusals = 10;

export function createWebhookInbox() {
  // A Map keeps the order of insertion, so the first event is the oldest.
  const received = new Map<string, ReceivedEvent>();
  let refusals: readonly Refusal[] = [];

  function add(event: WebhookEvent, arrival: Arrival): void {
    const arrivals = [...(received.get(event.id)?.arrivals ?? []), arrival].slice(-shownArrivals);
    received.set(event.id, { event, arrivals });
    const [oldest] = received.keys();
    if (oldest !== undefined && received.size > shownEvents) received.delete(oldest);
  }

  return {
    /** Returns the received events, latest first. */
    events: (): readonly ReceivedEvent[] => [...received.values()].reverse(),
    /** Returns the refused deliveries, latest first. */
    refusals: () => refusals,
    arrived: (event: WebhookEvent, attempt: number | null, outcome: 'handled' | 'failed'): void =>
      add(event, { at: new Date(), attempt, outcome }),
    /** Records a repeated webhook of an event that was already handled. */
    repeated(id: string): void {
      const known = received.get(id);
      if (known !== undefined) add(known.event, { at: new Date(), attempt: null, outcome: 'duplicate' });
    },
    refused(mode: WebhookMode, code: string): void {
      refusals = [{ at: new Date(), mode, code }, ...refusals].slice(0, shownRefusals);
    },
  };
}
