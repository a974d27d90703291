import type { EventRecord } from '../ports/events.ts';
import type { Storage } from '../ports/storage.ts';
import type { TransferRecord } from '../ports/transfers.ts';

/** Maximum number of a partner's events of one millisecond that are searched for the event of a transfer. */
const searchedEvents = 1_000;

/**
 * Returns the event about the outcome of a transfer; `null` if there is none yet, or if the event was removed.
 * The event is found by its time, which is the time at which the transfer became final.
 */
export async function findFinalEvent(
  { events }: Storage,
  { id, partner, mode, status, updatedAt }: TransferRecord,
): Promise<EventRecord | null> {
  if (status === 'pending') return null;
  const found = await events.everywhere({
    ...{ partner, mode, type: `payment.${status}`, status: null, until: updatedAt },
    ...{ oldestFirst: true, after: { time: updatedAt, id: '' }, limit: searchedEvents },
  });
  return found.find(({ body }) => JSON.parse(body).data?.id === id) ?? null;
}
