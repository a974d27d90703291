import assert from 'node:assert/strict';
import type {
  AttemptRecord,
  ClaimedDelivery,
  DeliveryRecord,
  DeliveryResult,
  DeliveryStore,
  NewEvent,
  Storage,
  WebhookEndpointRecord,
} from '@ostiary/core/storage';
import { assertSame } from './case.ts';
import { acme, sampleEvent } from './partner-samples.ts';
import { now } from './samples.ts';

export const leaseMs = 30_000;

export function sampleEndpoint(
  label: string,
  changes: Partial<WebhookEndpointRecord> = {},
): WebhookEndpointRecord {
  return {
    ...acme,
    id: `we_${label}`,
    url: `https://${label}.example/hooks`,
    events: ['*'],
    enabled: true,
    sealedSecret: `sealed ${label}`,
    createdAt: now,
    updatedAt: now,
    version: 1,
    ...changes,
  };
}

export function sampleAttempt(number: number, changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return { number, at: now, durationMs: 12, httpStatus: 200, error: null, response: 'ok', ...changes };
}

/** Stores a webhook endpoint. */
export async function registered(
  { webhooks }: Storage,
  label: string,
  changes: Partial<WebhookEndpointRecord> = {},
): Promise<WebhookEndpointRecord> {
  const endpoint = sampleEndpoint(label, changes);
  const creation = await webhooks.create({ endpoint, idempotency: null, max: 1000, now });
  assert.equal(creation.outcome, 'created');
  return endpoint;
}

/** Publishes one event with a storage call that publishes nothing else. */
export async function published(
  { events }: Storage,
  label: string,
  changes: Partial<NewEvent> = {},
): Promise<NewEvent> {
  const event = sampleEvent(label, changes);
  assertSame(await events.publish([event], { idempotency: null, now }), { outcome: 'published' });
  return event;
}

export function claim(
  { deliveries }: Storage,
  claimId: string,
  changes: Partial<Parameters<DeliveryStore['claim']>[0]> = {},
): Promise<ClaimedDelivery[]> {
  const everything = { limit: 1000, endpointLimit: 1000, endpointLimits: new Map() };
  return deliveries.claim({ claimId, now, leaseMs, ...everything, ...changes });
}

/** Claims deliveries and returns the first, which must exist. */
export async function claimedOne(...call: Parameters<typeof claim>): Promise<ClaimedDelivery> {
  const [claimed] = await claim(...call);
  assert.ok(claimed, 'a delivery is given out');
  return claimed;
}

export async function claimedIds(...call: Parameters<typeof claim>): Promise<string[]> {
  return (await claim(...call)).map(({ id }) => id);
}

/** Makes the result that a worker stores after an attempt. */
export function resultOf(
  { id, claimId, attempt }: Pick<ClaimedDelivery, 'id' | 'claimId' | 'attempt'>,
  next: DeliveryResult['next'] = { status: 'delivered' },
): DeliveryResult {
  return { id, claimId, attempt: sampleAttempt(attempt), isCutOff: false, next };
}

/** Stores one result of a delivery, with an attempt that began and ended at `at`. */
export async function finish(
  { deliveries }: Storage,
  { id, claimId, attempt }: Pick<ClaimedDelivery, 'id' | 'claimId' | 'attempt'>,
  next: DeliveryResult['next'],
  at: number = now,
): Promise<boolean | undefined> {
  const logged = sampleAttempt(attempt, { at, durationMs: 0 });
  const [answer] = await deliveries.finish([{ id, claimId, attempt: logged, isCutOff: false, next }]);
  return answer;
}

/** Publishes an event whose deliveries are all dropped at `at`. */
export async function dropped(
  storage: Storage,
  label: string,
  at: number = now,
  changes: Partial<NewEvent> = {},
): Promise<NewEvent> {
  const event = await published(storage, label, { createdAt: at, ...changes });
  for (const claimed of await claim(storage, `drop ${label}`, { now: at })) {
    assert.equal(claimed.eventId, event.id, 'nothing else is due');
    assert.equal(await finish(storage, claimed, { status: 'dropped' }, at), true);
  }
  return event;
}

export function listed(
  { deliveries }: Storage,
  request: Partial<Parameters<DeliveryStore['list']>[0]> = {},
): Promise<DeliveryRecord[]> {
  const everything = { endpointId: null, eventId: null, status: null, after: null, limit: 1000 };
  return deliveries.list({ ...acme, ...everything, ...request });
}

export async function listedIds(...call: Parameters<typeof listed>): Promise<string[]> {
  return (await listed(...call)).map(({ id }) => id);
}

/** Returns the status of every delivery of the partner, by id. */
export async function statuses(...call: Parameters<typeof listed>): Promise<Record<string, string>> {
  return Object.fromEntries((await listed(...call)).map(({ id, status }) => [id, status]));
}

/** Requests redelivery of an event. The body of the result lists the deliveries. */
export function redeliver(
  { deliveries }: Storage,
  eventId: string,
  label: string,
  changes: Partial<Parameters<DeliveryStore['redeliver']>[0]> = {},
): ReturnType<DeliveryStore['redeliver']> {
  return deliveries.redeliver({
    ...acme,
    eventId,
    endpointId: null,
    deliveryId: `dl_${label}`,
    now,
    idempotency: null,
    answer: (queued) => ({ status: 202, body: queued.map(({ id }) => id).join() }),
    ...changes,
  });
}

/** Requests redelivery of dropped events. The body of the result has their number. */
export function recover(
  { deliveries }: Storage,
  endpointId: string,
  label: string,
  changes: Partial<Parameters<DeliveryStore['recover']>[0]> = {},
): ReturnType<DeliveryStore['recover']> {
  return deliveries.recover({
    ...acme,
    endpointId,
    since: 0,
    deliveryId: `dl_${label}`,
    now,
    limit: 1000,
    idempotency: null,
    answer: (queued) => ({ status: 202, body: `${queued} queued` }),
    ...changes,
  });
}

/** Expected result of the calls `redeliver` and `recover` if they created deliveries. */
export function queued(body: string): Awaited<ReturnType<typeof redeliver>> {
  return { outcome: 'queued', answer: { status: 202, body } };
}
