import type { ClaimedDelivery } from '@ostiary/core/storage';

/** A delivery, without what is said of its endpoint. */
interface DeliveryRow
  extends Pick<
    ClaimedDelivery,
    'id' | 'endpointId' | 'eventId' | 'eventType' | 'body' | 'attempt' | 'dueAt'
  > {
  /** Deliveries are numbered in the order in which they were published. */
  readonly number: number;
}

/** An endpoint of some of them. */
interface ReceiverRow
  extends Pick<ClaimedDelivery, 'endpointId' | 'partner' | 'mode' | 'url' | 'sealedSecret'> {
  readonly number: null;
}

/** Comes always. */
interface SizeRow {
  readonly number: null;
  readonly endpointId: null;
  /** Whether a plan that is made now is good for any number of rows. */
  readonly isLarge: boolean;
}

/** What a claim answers, in any order. */
export type ClaimedRow = DeliveryRow | ReceiverRow | SizeRow;

/** What was claimed: endpoints in turn, deliveries of one endpoint as they became due. */
export function claimedBy(
  claimId: string,
  after: string | null,
  rows: readonly ClaimedRow[],
): ClaimedDelivery[] {
  const receivers = new Map<string, ReceiverRow>();
  const waiting = new Map<string, DeliveryRow[]>();
  for (const row of rows) {
    if (row.endpointId === null) continue;
    if (row.number === null) receivers.set(row.endpointId, row);
    else if (!waiting.get(row.endpointId)?.push(row)) waiting.set(row.endpointId, [row]);
  }
  return inTurn([...waiting], after).flatMap(([endpointId, found]) => {
    const receiver = receivers.get(endpointId);
    // Its endpoint has gone this very moment, and it goes with it.
    if (receiver === undefined) return [];
    const { partner, mode, url, sealedSecret } = receiver;
    return found
      .sort((a, b) => a.dueAt - b.dueAt || a.number - b.number)
      .map(({ id, eventId, eventType, body, attempt, dueAt }) => ({
        id,
        claimId,
        endpointId,
        partner,
        mode,
        url,
        sealedSecret,
        eventId,
        eventType,
        body,
        attempt,
        dueAt,
      }));
  });
}

/** Sorted by endpoint, beginning after `after` and going round. */
export function inTurn<Item>(entries: [string, Item][], after: string | null): [string, Item][] {
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  const isLater = ([id]: [string, Item]) => after === null || id > after;
  return [...sorted.filter(isLater), ...sorted.filter((entry) => !isLater(entry))];
}
