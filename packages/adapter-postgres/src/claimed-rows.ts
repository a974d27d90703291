import type { ClaimedDelivery } from '@ostiary/core/storage';

/** A delivery, without what is said of its endpoint. */
interface DeliveryRow
  extends Pick<
    ClaimedDelivery,
    'id' | 'endpointId' | 'eventId' | 'eventType' | 'body' | 'attempt' | 'failures' | 'dueAt'
  > {
  /** Deliveries are numbered in the order in which they were published. */
  readonly number: number;
  /** True if it is claimed for the first time. */
  readonly isNew: boolean;
  /** Time at which it became ready again. */
  readonly readyAt: number | null;
}

/** An endpoint of some of them. */
interface ReceiverRow
  extends Pick<ClaimedDelivery, 'endpointId' | 'partner' | 'mode' | 'url' | 'sealedSecret'> {
  readonly number: null;
  /** Time at which something of it was claimed before. */
  readonly servedAt: number;
}

/** Rows of a claim, in any order. */
export type ClaimedRow = DeliveryRow | ReceiverRow;

/** Sorts claimed deliveries: endpoints in turn, and the deliveries of an endpoint in their order. */
export function claimedBy(claimId: string, rows: readonly ClaimedRow[]): ClaimedDelivery[] {
  const waiting = Map.groupBy(
    rows.filter((row) => row.number !== null),
    ({ endpointId }) => endpointId,
  );
  // An endpoint without a row has gone this very moment, and its deliveries go with it.
  const receivers = rows.filter((row) => row.number === null);
  return receivers.sort(inTurn).flatMap(({ endpointId, partner, mode, url, sealedSecret }) =>
    (waiting.get(endpointId) ?? [])
      .sort(inOrder)
      .map(({ id, eventId, eventType, body, attempt, failures, dueAt }) => ({
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
        failures,
        dueAt,
      })),
  );
}

function inTurn(a: ReceiverRow, b: ReceiverRow): number {
  const isTest = (row: ReceiverRow) => Number(row.mode === 'test');
  return isTest(a) - isTest(b) || a.servedAt - b.servedAt || (a.endpointId < b.endpointId ? -1 : 1);
}

function inOrder(a: DeliveryRow, b: DeliveryRow): number {
  return Number(a.isNew) - Number(b.isNew) || (a.readyAt ?? 0) - (b.readyAt ?? 0) || a.number - b.number;
}
