import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { type Sealer, UnsealError } from './sealing.ts';

/**
 * Returns the context with which an endpoint's secret is encrypted. The secret can be decrypted only with the
 * same context.
 */
export function webhookSecretContext(endpointId: string): string {
  return `webhook_endpoints/${endpointId}/secret`;
}

/**
 * Returns the encrypted secret of an endpoint whose secret does not change, sealed with the current key. The
 * endpoint may have been read before a concurrent reseal, whose result must not be overwritten with the old
 * value. A secret that no sealing key can decrypt is returned unchanged.
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
