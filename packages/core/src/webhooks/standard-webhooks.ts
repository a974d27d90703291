import { createHmac } from 'node:crypto';

/** Prefix of a secret whose remainder is base64 (Standard Webhooks, "Signature scheme"). */
const encodedPrefix = 'whsec_';

/** Lengths of a key that Standard Webhooks allows, in bytes. */
const leastKeyBytes = 24;
const mostKeyBytes = 64;

/** Decodes the remainder of a `whsec_` secret. Returns `null` for any other secret, and for base64 that libraries read differently. */
function decodedKey(secret: string): Buffer | null {
  if (!secret.startsWith(encodedPrefix)) return null;
  const encoded = secret.slice(encodedPrefix.length);
  const key = Buffer.from(encoded, 'base64');
  return key.toString('base64') === encoded ? key : null;
}

/** Returns the reason for which libraries would not read a `whsec_` secret, or `null` if they read it. */
export function encodingProblem(secret: string): string | null {
  if (!secret.startsWith(encodedPrefix)) return null;
  const length = decodedKey(secret)?.length ?? 0;
  if (length >= leastKeyBytes && length <= mostKeyBytes) return null;
  return `begins with ${encodedPrefix}, so that the base64 of ${leastKeyBytes} to ${mostKeyBytes} bytes has to follow`;
}

/** Message that is signed. */
interface StandardMessage {
  /** `evt_…`: the same for every attempt, so that receivers recognise duplicates by it. */
  readonly id: string;
  /** Start of the attempt, in whole Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/**
 * Signs a message as Standard Webhooks says: HMAC-SHA-256 of `id.timestamp.body`. The key is the decoded remainder of a
 * `whsec_` secret. Of every other secret it is the bytes, as for the headers of Ostiary.
 * @returns the three headers of that specification
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
