import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Making a key of a secret costs a quarter of a signature. */
const keys = new Map<string, KeyObject>();
const mostKeys = 1_000;

function keyOf(secret: string): KeyObject {
  const cached = keys.get(secret);
  if (cached !== undefined) return cached;
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  // Bounded: with more secrets than this, keys are made again.
  if (keys.size >= mostKeys) keys.clear();
  keys.set(secret, key);
  return key;
}

/** The signature of a delivery: hexadecimal HMAC-SHA256 of `timestamp + "." + body`. */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  return createHmac('sha256', keyOf(secret)).update(`${timestamp}.`).update(body).digest('hex');
}

// Nothing is awaited between writing and comparing, so that all calls can share these 64 bytes.
const given = Buffer.alloc(64);
const expected = Buffer.alloc(64);

/** The first secret that the signature was made with, or -1. Every secret is tried, whichever matches. */
export function matchingSecret(
  secrets: readonly string[],
  timestamp: string,
  body: Uint8Array,
  signature: string,
): number | Promise<number> {
  let matching = -1;
  for (let index = secrets.length - 1; index >= 0; index -= 1) {
    given.write(signature, 'latin1');
    expected.write(sign(secrets[index] as string, timestamp, body), 'latin1');
    if (timingSafeEqual(given, expected)) matching = index;
  }
  return matching;
}

/** A text that no other call ever answers. */
export { randomUUID as uniqueToken } from 'node:crypto';
