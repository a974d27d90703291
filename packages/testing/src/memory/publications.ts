import type { NewEvent, Owner } from '@ostiary/core/storage';
import { StorageUnavailableError } from './step.ts';
import { byCodeUnit, type DeliveryRow, isOwned, isPartnerDisabled, pairKey, type Tables } from './tables.ts';

/** What a delivery is about. */
interface DeliveryOf {
  readonly owner: Owner;
  readonly event: Pick<NewEvent, 'id' | 'type'>;
  readonly endpointId: string;
  readonly now: number;
}

/** Stores events and their deliveries, or throws before anything is stored. */
export function publish(tables: Tables, events: readonly NewEvent[]): void {
  const deliveries = events.flatMap(({ deliveryId, ...event }) =>
    matchingEndpoints(tables, event, event.type).map((endpointId, index) =>
      newDelivery(`${deliveryId}_${index + 1}`, { owner: event, event, endpointId, now: event.createdAt }),
    ),
  );
  assertFree(tables.events, events, 'an event id is taken');
  assertFree(tables.deliveries, deliveries, 'a delivery id is taken');
  for (const { deliveryId: _, ...event } of events) {
    const key = pairKey(event.partner, event.mode);
    const sequence = (tables.sequences.get(key) ?? 0) + 1;
    tables.sequences.set(key, sequence);
    tables.events.set(event.id, { ...event, sequence });
  }
  for (const row of deliveries) tables.deliveries.set(row.id, row);
}

/** Ids of the enabled endpoints of a partner and mode that want events of this type, in their order. */
export function matchingEndpoints(tables: Tables, owner: Owner, type: string): string[] {
  const { webhooks } = tables;
  if (isPartnerDisabled(tables, owner.partner)) return [];
  return [...webhooks.values()]
    .filter((endpoint) => endpoint.enabled && isOwned(endpoint, owner))
    .filter(({ events }) => events.includes('*') || events.includes(type))
    .map(({ id }) => id)
    .sort(byCodeUnit);
}

/** A delivery that is due now. */
export function newDelivery(id: string, { owner, event, endpointId, now }: DeliveryOf): DeliveryRow {
  return {
    id,
    partner: owner.partner,
    mode: owner.mode,
    eventId: event.id,
    eventType: event.type,
    endpointId,
    status: 'pending',
    createdAt: now,
    dueAt: now,
    readyAt: now,
    claimId: null,
    endedAt: null,
    attempts: [],
  };
}

/** Throws unless every row has an id that no row has, here or beside it. */
export function assertFree(
  table: ReadonlyMap<string, unknown>,
  rows: readonly { readonly id: string }[],
  message: string,
): void {
  const ids = new Set(rows.map(({ id }) => id));
  if (ids.size < rows.length || rows.some(({ id }) => table.has(id))) {
    throw new StorageUnavailableError(message);
  }
}
