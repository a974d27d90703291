import type { AttemptRecord, DeliveryRecord } from '../ports/deliveries.ts';
import type { EventRecord } from '../ports/events.ts';
import type { InboxRequest } from '../ports/inbox.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { iso } from '../time/clock.ts';

/** Returns a webhook endpoint in the form that its partner sees, without its secret. */
export function endpointView(endpoint: WebhookEndpointRecord): JsonObject {
  const { id, url, events, enabled, mode, createdAt, updatedAt } = endpoint;
  return {
    id,
    url,
    events: [...events],
    enabled,
    mode,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** Returns an event in the form that its partner sees: the body that was sent, and its sequence number. */
export function eventView({ sequence, body }: EventRecord): JsonObject {
  return { sequence, ...(JSON.parse(body) as JsonObject) };
}

export function attemptView({
  number,
  at,
  durationMs,
  httpStatus,
  error,
  response,
}: AttemptRecord): JsonObject {
  return { number, at: iso(at), durationMs, httpStatus, error, response };
}

export function deliveryView(delivery: DeliveryRecord): JsonObject {
  const { id, eventId, eventType, endpointId, status, nextAttemptAt, createdAt, attempts } = delivery;
  return {
    id,
    eventId,
    eventType,
    endpointId,
    status,
    createdAt: iso(createdAt),
    nextAttemptAt: nextAttemptAt === null ? null : iso(nextAttemptAt),
    attempts: attempts.map(attemptView),
  };
}

/** Returns a request of an inbox in the form that its partner sees. */
export function inboxRequestView(request: InboxRequest): JsonObject {
  const { id, endpointId, receivedAt, headers, body, signatureError, answer } = request;
  return {
    id,
    endpointId,
    receivedAt: iso(receivedAt),
    method: 'POST',
    headers: headers.map(([name, value]) => ({ name, value })),
    body,
    signatureError,
    answer: answer === null ? null : { ...answer },
  };
}
