import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { type Sealer, UnsealError } from './sealing.ts';

/**
 * Returns the place at which an endpoint's secret is sealed. The secret can only be opened for the same
 * place.
 */
export function webhookSecretContext(endpointId: string): string {
  return `webhook_endpoints/${endpointId}/secret`;
}

/**
 * The sealed secret of an endpoint whose secret stays, under the first sealing key: a change that read the endpoint before
 * its secret was sealed anew must not bring the old text back.
 */
export function keptSecret(
  sealer: Sealer,
  { id, sealedSecret }: Pick<WebhookEndpointRecord, 'id' | 'sealedSecret'>,
): string {
  try {
    return sealer.renew(sealedSecret, webhookSecretContext(id));
  } catch (error) {
    if (error instanceof UnsealError) return sealedSecret;
    throw error;
  }
}
