import type { AttemptRecord, DeliveryRecord, DeliveryState } from '../ports/deliveries.ts';

/**
 * States by which lists of deliveries are filtered. The filter `pending` includes deliveries that are
 * `failing`.
 */
export const deliveryStates = ['pending', 'failing', 'delivered', 'dropped', 'cancelled'] as const;

/** Counts the failed attempts of a delivery. Attempts that this service cut off do not count. */
export const failedAttempts = ({
  attempts,
}: {
  readonly attempts: readonly Pick<AttemptRecord, 'error'>[];
}): number => attempts.filter(({ error }) => error !== null && error !== 'aborted').length;

/** Returns the state of a delivery: `failing` if it is pending and an attempt has failed, otherwise its status. */
export const deliveryState = (
  delivery: Pick<DeliveryRecord, 'status'> & Parameters<typeof failedAttempts>[0],
): DeliveryState =>
  delivery.status === 'pending' && failedAttempts(delivery) > 0 ? 'failing' : delivery.status;
