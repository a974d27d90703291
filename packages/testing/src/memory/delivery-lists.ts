import type { DeliveryRecord, DeliveryStore, ListPosition } from '@ostiary/core/storage';
import { byCodeUnit, type DeliveryRow, isOwned, type Tables } from './tables.ts';

export function listDeliveries(
  { deliveries }: Tables,
  request: Parameters<DeliveryStore['list']>[0],
): DeliveryRecord[] {
  const { endpointId, eventId, status, after, limit } = request;
  return [...deliveries.values()]
    .filter((row) => isOwned(row, request))
    .filter((row) => endpointId === null || row.endpointId === endpointId)
    .filter((row) => eventId === null || row.eventId === eventId)
    .filter((row) => status === null || row.status === status)
    .filter((row) => after === null || byPosition(positionOf(row), after) < 0)
    .sort((a, b) => byPosition(positionOf(b), positionOf(a)))
    .slice(0, limit)
    .map(deliveryOf);
}

/** What callers see of a delivery. */
export function deliveryOf(row: DeliveryRow): DeliveryRecord {
  const { id, partner, mode, eventId, eventType, endpointId, status, createdAt, dueAt, attempts } = row;
  return {
    id,
    partner,
    mode,
    eventId,
    eventType,
    endpointId,
    status,
    createdAt,
    nextAttemptAt: status === 'pending' ? dueAt : null,
    attempts: attempts.map((attempt) => ({ ...attempt })),
  };
}

const positionOf = ({ createdAt, id }: DeliveryRow): ListPosition => ({ time: createdAt, id });

function byPosition(a: ListPosition, b: ListPosition): number {
  return a.time - b.time || byCodeUnit(a.id, b.id);
}
