import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Cache of cryptographic keys by secret: making a key takes a quarter of the time of a signature. */
const keys = new Map<string, KeyObject>();
const mostKeys = 1_000;

function keyOf(secret: string): KeyObject {
  const cached = keys.get(secret);
  if (cached !== undefined) return cached;
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  // Limits the memory: with more secrets than this, keys are made again.
  if (keys.size >= mostKeys) keys.clear();
  keys.set(secret, key);
  return key;
}

/** Computes the signature of a delivery: hexadecimal HMAC-SHA256 of `timestamp + "." + body`. */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  return createHmac('sha256', keyOf(secret)).update(`${timestamp}.`).update(body).digest('hex');
}

// Shared by all calls, because a call does not await between writing and comparing.
const given = Buffer.alloc(64);
const expected = Buffer.alloc(64);

/**
 * Returns the index of the first secret that matches the signature, or -1. Always tries every secret, so that
 * the time does not reveal which secret matches.
 */
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

/** Returns a random UUID, which identifies one claim of an event. */
export { randomUUID as uniqueToken } from 'node:crypto';
