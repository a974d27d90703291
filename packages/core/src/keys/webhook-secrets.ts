import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { type Sealer, UnsealError } from './sealing.ts';

/**
 * Returns the sealing context of an endpoint's secret. The secret can be decrypted only with the same
 * context.
 */
export function webhookSecretContext(endpointId: string): string {
  return `webhook_endpoints/${endpointId}/secret`;
}

/**
 * Returns the sealed secret of an endpoint that keeps its secret, encrypted with the current sealing key. The
 * endpoint may have been read before a concurrent reseal, whose result must not be overwritten with the old
 * value.
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
