import type { EventRecord } from '../ports/events.ts';
import type { Storage } from '../ports/storage.ts';
import type { TransferRecord } from '../ports/transfers.ts';
import { everyEvent } from '../webhooks/search.ts';

/** Number of newest events of a type that are searched for the event of a transfer. */
const searchedEvents = 1000;

/**
 * Returns the event about the outcome of a transfer; `null` if there is none yet, or if it is not among the
 * 1,000 newest events of its type.
 */
export async function findFinalEvent(
  { events }: Storage,
  { id, partner, mode, status }: TransferRecord,
): Promise<EventRecord | null> {
  if (status === 'pending') return null;
  const search = { partner, mode, ...everyEvent, type: `payment.${status}`, limit: searchedEvents };
  const latest = await events.latest(search);
  return latest.find(({ body }) => JSON.parse(body).data?.id === id) ?? null;
}
