import type { AuditRecord, DeliveryStore, LateIdempotencyClaim, StoredAnswer } from '@ostiary/core/storage';
import { note } from './audit.ts';
import { deliveryOf } from './delivery-lists.ts';
import { outcomeOf, storeClaim } from './idempotency.ts';
import { assertFree, matchingEndpoints, newDelivery } from './publications.ts';
import { type DeliveryRow, isOwned, type Tables } from './tables.ts';
import { findEndpoint, isDelivered } from './webhooks.ts';

type Call<Name extends 'redeliver' | 'recover'> = (
  tables: Tables,
  request: Parameters<DeliveryStore[Name]>[0],
) => Awaited<ReturnType<DeliveryStore[Name]>>;

export const redeliver: Call<'redeliver'> = (tables, request) => {
  const { partner, mode, eventId, endpointId, deliveryId, now, idempotency } = request;
  const owner = { partner, mode };
  const earlier = idempotency && outcomeOf(tables, idempotency, now);
  if (earlier !== null) return earlier;
  const event = tables.events.get(eventId);
  if (event === undefined || !isOwned(event, owner)) return { outcome: 'unknown_event' };
  if (endpointId !== null) {
    const endpoint = findEndpoint(tables, owner, endpointId);
    if (endpoint === undefined) return { outcome: 'unknown_endpoint' };
    if (!isDelivered(tables, endpoint)) return { outcome: 'disabled_endpoint' };
  }

  const endpointIds = endpointId === null ? matchingEndpoints(tables, owner, event.type) : [endpointId];
  const added: DeliveryRow[] = [];
  const rows = endpointIds.map((id) => {
    const pending = deliveriesOf(tables, eventId, id).find(({ status }) => status === 'pending');
    if (pending !== undefined) return pending;
    const row = newDelivery(`${deliveryId}_${added.length + 1}`, { owner, event, endpointId: id, now });
    added.push(row);
    return row;
  });
  const answer = request.answer(rows.map(deliveryOf));
  queue(tables, added, request, answer);
  return { outcome: 'queued', answer };
};

export const recover: Call<'recover'> = (tables, request) => {
  const { partner, mode, endpointId, since, deliveryId, now, limit, idempotency } = request;
  const owner = { partner, mode };
  const earlier = idempotency && outcomeOf(tables, idempotency, now);
  if (earlier !== null) return earlier;
  const endpoint = findEndpoint(tables, owner, endpointId);
  if (endpoint === undefined) return { outcome: 'unknown_endpoint' };
  if (!isDelivered(tables, endpoint)) return { outcome: 'disabled_endpoint' };

  const added = [...tables.deliveries.values()]
    .filter((row) => row.endpointId === endpointId && row.status === 'dropped')
    .filter((row) => row.endedAt !== null && row.endedAt >= since && isLast(tables, row))
    .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
    .slice(0, limit)
    .map(({ eventId, eventType }, index) => {
      const event = { id: eventId, type: eventType };
      return newDelivery(`${deliveryId}_${index + 1}`, { owner, event, endpointId, now });
    });
  const answer = request.answer(added.length);
  queue(tables, added, request, answer);
  return { outcome: 'queued', answer };
};

/** In the order of their creation: the last one is the only one that can be pending. */
function deliveriesOf({ deliveries }: Tables, eventId: string, endpointId: string): DeliveryRow[] {
  return [...deliveries.values()].filter((row) => row.eventId === eventId && row.endpointId === endpointId);
}

/** Whether nothing came of the event at this endpoint after this delivery; a cancelled one came to nothing. */
function isLast(tables: Tables, { id, eventId, endpointId }: DeliveryRow): boolean {
  const rows = deliveriesOf(tables, eventId, endpointId).filter(({ status }) => status !== 'cancelled');
  return rows.at(-1)?.id === id;
}

function queue(
  tables: Tables,
  added: readonly DeliveryRow[],
  {
    idempotency,
    audit,
  }: { readonly idempotency: LateIdempotencyClaim | null; readonly audit?: AuditRecord | undefined },
  answer: StoredAnswer,
): void {
  assertFree(tables.deliveries, added, 'a delivery id is taken');
  note(tables, audit);
  for (const row of added) tables.deliveries.set(row.id, row);
  if (idempotency !== null) storeClaim(tables, { ...idempotency, answer });
}
