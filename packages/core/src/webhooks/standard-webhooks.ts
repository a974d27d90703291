import { createHmac } from 'node:crypto';

/** Prefix of a secret whose remainder is base64 (Standard Webhooks, "Signature scheme"). */
const encodedPrefix = 'whsec_';

/** Shortest key that Standard Webhooks allows, in bytes. */
const leastKeyBytes = 24;
/** Longest key that Standard Webhooks allows, in bytes. */
const mostKeyBytes = 64;

/**
 * Decodes the base64 part of a `whsec_` secret. Returns `null` for any other secret, and for base64 that some
 * libraries decode differently.
 */
function decodedKey(secret: string): Buffer | null {
  if (!secret.startsWith(encodedPrefix)) return null;
  const encoded = secret.slice(encodedPrefix.length);
  const key = Buffer.from(encoded, 'base64');
  return key.toString('base64') === encoded ? key : null;
}

/**
 * Returns the reason why libraries for Standard Webhooks could not use a `whsec_` secret; `null` if they can,
 * and for any other secret.
 */
export function encodingProblem(secret: string): string | null {
  if (!secret.startsWith(encodedPrefix)) return null;
  const length = decodedKey(secret)?.length ?? 0;
  if (length >= leastKeyBytes && length <= mostKeyBytes) return null;
  return `begins with ${encodedPrefix}, so that the base64 of ${leastKeyBytes} to ${mostKeyBytes} bytes has to follow`;
}

/** Parts of a webhook that Standard Webhooks signs. */
interface StandardMessage {
  /** Id of the event, `evt_…`, the same for every attempt, so that receivers can recognize duplicates. */
  readonly id: string;
  /** Start of the attempt, in whole Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/**
 * Signs a message by the rules of Standard Webhooks: HMAC-SHA-256 of `id.timestamp.body`. The key is the
 * base64-decoded rest of a `whsec_` secret. For a secret without `whsec_` or with invalid base64 the key is
 * the secret's bytes, as for the `X-<PREFIX>-Signature` header.
 * @returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`
 */
export function standardHeaders(
  secret: string,
  { id, timestamp, body }: StandardMessage,
): Record<string, string> {
  const signature = createHmac('sha256', decodedKey(secret) ?? Buffer.from(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': `v1,${signature}`,
  };
}
