import type { ClaimedDelivery } from '@ostiary/core/storage';

/** A claimed delivery, without its endpoint's data. */
interface DeliveryRow
  extends Pick<
    ClaimedDelivery,
    'id' | 'endpointId' | 'eventId' | 'eventType' | 'body' | 'traceparent' | 'attempt' | 'failures' | 'dueAt'
  > {
  /** Number of the delivery, in the order in which deliveries were published. */
  readonly number: number;
  /** True if no earlier claim has found the delivery. */
  readonly isNew: boolean;
  /**
   * Time from which the delivery could be claimed again: when it was due or its lease had ended; `null` if
   * `isNew` is true.
   */
  readonly readyAt: number | null;
}

/** An endpoint that has claimed deliveries. */
interface ReceiverRow
  extends Pick<ClaimedDelivery, 'endpointId' | 'partner' | 'mode' | 'url' | 'sealedSecret'> {
  readonly number: null;
  /** Time at which an earlier claim last took a delivery to the endpoint; 0 for never. */
  readonly servedAt: number;
}

/** A row that the database function for claims returns; rows come in any order. */
export type ClaimedRow = DeliveryRow | ReceiverRow;

/**
 * Sorts claimed deliveries: those of live mode first, then by the time at which their endpoint was last
 * served. Among the deliveries to an endpoint, those that an earlier claim found come first, by the time from
 * which they could be claimed again. New ones follow in the order of publication.
 */
export function claimedBy(claimId: string, rows: readonly ClaimedRow[]): ClaimedDelivery[] {
  const waiting = Map.groupBy(
    rows.filter((row) => row.number !== null),
    ({ endpointId }) => endpointId,
  );
  // An endpoint without a row was just removed, together with its deliveries.
  const receivers = rows.filter((row) => row.number === null);
  return receivers.sort(inTurn).flatMap(({ endpointId, partner, mode, url, sealedSecret }) =>
    (waiting.get(endpointId) ?? [])
      .sort(inOrder)
      .map(({ id, eventId, eventType, body, traceparent, attempt, failures, dueAt }) => ({
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
        traceparent,
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
