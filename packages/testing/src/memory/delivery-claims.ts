import type { ClaimedDelivery, DeliveryResult, DeliveryStore } from '@ostiary/core/storage';
import { StorageUnavailableError } from './step.ts';
import { byCodeUnit, type DeliveryRow, type Tables } from './tables.ts';

type ClaimRequest = Parameters<DeliveryStore['claim']>[0];

export function claimDeliveries(tables: Tables, request: ClaimRequest): ClaimedDelivery[] {
  const { claimId, now, leaseMs, limit, room, rooms } = request;
  const due = dueByEndpoint(tables, now);
  const claimed: ClaimedDelivery[] = [];
  for (const endpointId of inTurn(tables, [...due.keys()])) {
    const free = Math.min(rooms.get(endpointId) ?? room, limit - claimed.length);
    const rows = due.get(endpointId)?.slice(0, Math.max(free, 0)) ?? [];
    if (rows.length > 0) tables.servedAt.set(endpointId, now);
    for (const row of rows) {
      tables.deliveries.set(row.id, { ...row, claimId, readyAt: now + leaseMs });
      claimed.push(shown(tables, row, claimId));
    }
  }
  return claimed;
}

/** Writes the results whose claim is the last one that took the delivery, or throws before anything is stored. */
export function finishDeliveries(tables: Tables, results: readonly DeliveryResult[]): boolean[] {
  const isLogged = (result: DeliveryResult) =>
    held(tables, result)?.attempts.some(({ number }) => number === result.attempt?.number) ?? false;
  if (results.some(isLogged)) throw new StorageUnavailableError('the attempt is logged already');
  return results.map((result) => finish(tables, result));
}

function finish(tables: Tables, result: DeliveryResult): boolean {
  const row = held(tables, result);
  if (row === undefined) return false;
  const { attempt, next } = result;
  const attempts = attempt === null ? row.attempts : [...row.attempts, { ...attempt }];
  const { status } = next;
  if (status === 'pending') {
    const { dueAt } = next;
    tables.deliveries.set(row.id, { ...row, claimId: null, dueAt, readyAt: dueAt, attempts });
  } else {
    const endedAt = attempt === null ? row.dueAt : attempt.at + attempt.durationMs;
    tables.deliveries.set(row.id, { ...row, status, claimId: null, endedAt, attempts });
  }
  return true;
}

/** The delivery, while this claim is the last one that took it. */
function held({ deliveries }: Tables, { id, claimId }: DeliveryResult): DeliveryRow | undefined {
  const row = deliveries.get(id);
  return row?.status === 'pending' && row.claimId === claimId ? row : undefined;
}

/** What can be claimed of each endpoint, in the order in which it became so. */
function dueByEndpoint({ deliveries }: Tables, now: number): Map<string, DeliveryRow[]> {
  const due = [...deliveries.values()].filter(
    ({ status, readyAt }) => status === 'pending' && readyAt <= now,
  );
  return Map.groupBy(
    due.sort((a, b) => a.readyAt - b.readyAt),
    ({ endpointId }) => endpointId,
  );
}

/** Who was not served for the longest time comes first. */
function inTurn({ servedAt }: Tables, endpointIds: string[]): string[] {
  const at = (id: string) => servedAt.get(id) ?? 0;
  return endpointIds.sort((a, b) => at(a) - at(b) || byCodeUnit(a, b));
}

function shown({ webhooks, events }: Tables, row: DeliveryRow, claimId: string): ClaimedDelivery {
  const { id, partner, mode, endpointId, eventId, eventType, dueAt, attempts } = row;
  return {
    id,
    partner,
    mode,
    claimId,
    endpointId,
    eventId,
    eventType,
    body: events.get(eventId)?.body ?? '',
    attempt: attempts.length + 1,
    dueAt,
    url: webhooks.get(endpointId)?.url ?? '',
    sealedSecret: webhooks.get(endpointId)?.sealedSecret ?? '',
  };
}
