import type { DeliveryResult, NewEvent, WebhookEndpointRecord } from '@ostiary/core/storage';

export const acme = { partner: 'acme', mode: 'live' } as const;

export function sampleEvent(label: string, changes: Partial<NewEvent> = {}): NewEvent {
  const event = { id: `evt_${label}`, type: 'kyc.updated', body: `body of ${label}`, createdAt: 5 };
  return { ...acme, ...event, deliveryId: `dl_${label}`, ...changes };
}

export function sampleEndpoint(
  label: string,
  changes: Partial<WebhookEndpointRecord> = {},
): WebhookEndpointRecord {
  return {
    ...acme,
    id: `we_${label}`,
    url: 'https://example.com/',
    events: ['*'],
    enabled: true,
    sealedSecret: 'sealed',
    createdAt: 1,
    updatedAt: 1,
    version: 1,
    ...changes,
  };
}

/** What a worker writes after an attempt. */
export function sampleResult(
  claimed: { readonly id: string; readonly claimId: string; readonly attempt: number },
  next: DeliveryResult['next'] = { status: 'delivered' },
): DeliveryResult {
  const { id, claimId, attempt: number } = claimed;
  const attempt = { number, at: 9, durationMs: 1, httpStatus: 200, error: null, response: 'ok' };
  return { id, claimId, attempt, next };
}
