import type { Owner, WebhookEndpointRecord, WebhookEndpointStore } from '@ostiary/core/storage';
import { note } from './audit.ts';
import { outcomeOf, storeClaim } from './idempotency.ts';
import { assertFree } from './publications.ts';
import { memorySealedSecrets } from './sealed-secrets.ts';
import type { Step } from './step.ts';
import { byCodeUnit, type DeliveryRow, isOwned, isPartnerDisabled, type Tables } from './tables.ts';

export function memoryWebhooks(step: Step): WebhookEndpointStore {
  return {
    create: ({ endpoint, idempotency, max, now }) =>
      step((tables) => {
        const earlier = idempotency && outcomeOf(tables, idempotency, now);
        if (earlier !== null) return earlier;
        if (owned(tables, endpoint).length >= max) return { outcome: 'too_many' };
        assertFree(tables.webhooks, [endpoint], 'the endpoint id is taken');
        tables.webhooks.set(endpoint.id, copy(endpoint));
        if (idempotency !== null) storeClaim(tables, idempotency);
        return { outcome: 'created' };
      }),

    find: (owner, id) =>
      step((tables) => {
        const endpoint = findEndpoint(tables, owner, id);
        return endpoint === undefined ? null : copy(endpoint);
      }),

    list: (owner) =>
      step((tables) =>
        owned(tables, owner)
          .sort((a, b) => a.createdAt - b.createdAt || byCodeUnit(a.id, b.id))
          .map(copy),
      ),

    replace: (endpoint, now, audit) =>
      step((tables) => {
        const stored = findEndpoint(tables, endpoint, endpoint.id);
        if (stored?.version !== endpoint.version - 1) return false;
        note(tables, audit);
        tables.webhooks.set(endpoint.id, copy(endpoint));
        if (!endpoint.enabled) cancel(tables, endpoint.id, now);
        return true;
      }),

    remove: (owner, id, now, audit) =>
      step((tables) => {
        if (findEndpoint(tables, owner, id) === undefined) return false;
        note(tables, audit);
        tables.webhooks.delete(id);
        cancel(tables, id, now);
        return true;
      }),

    ...memorySealedSecrets(step, {
      rowsOf: ({ webhooks }) => webhooks,
      sealedOf: (endpoint) => endpoint.sealedSecret,
      withSealed: (endpoint, sealedSecret) => ({ ...endpoint, sealedSecret }),
    }),
  };
}

/** Whether anything is delivered to an endpoint. */
export function isDelivered(tables: Tables, { enabled, partner }: WebhookEndpointRecord): boolean {
  return enabled && !isPartnerDisabled(tables, partner);
}

/** An endpoint of this partner and mode. */
export function findEndpoint(
  { webhooks }: Tables,
  owner: Owner,
  id: string,
): WebhookEndpointRecord | undefined {
  const endpoint = webhooks.get(id);
  return endpoint !== undefined && isOwned(endpoint, owner) ? endpoint : undefined;
}

function owned({ webhooks }: Tables, owner: Owner): WebhookEndpointRecord[] {
  return [...webhooks.values()].filter((endpoint) => isOwned(endpoint, owner));
}

/** Whoever holds one of these deliveries loses it: its result will be refused. Answers how many were pending. */
export function cancelWhere(
  { deliveries }: Tables,
  matches: (row: DeliveryRow) => boolean,
  now: number,
): number {
  let cancelled = 0;
  for (const [id, row] of deliveries) {
    if (row.status !== 'pending' || !matches(row)) continue;
    deliveries.set(id, { ...row, status: 'cancelled', endedAt: now });
    cancelled += 1;
  }
  return cancelled;
}

function cancel(tables: Tables, endpoint: string, now: number): void {
  cancelWhere(tables, ({ endpointId }) => endpointId === endpoint, now);
}

function copy(endpoint: WebhookEndpointRecord): WebhookEndpointRecord {
  return { ...endpoint, events: [...endpoint.events] };
}
