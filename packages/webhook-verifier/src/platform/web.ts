import { encoder } from '../body.ts';

const algorithm = { name: 'HMAC', hash: 'SHA-256' };
const keys = new Map<string, Promise<CryptoKey>>();

function keyOf(secret: string): Promise<CryptoKey> {
  const cached = keys.get(secret);
  if (cached !== undefined) return cached;
  const bytes = encoder.encode(secret);
  const key = crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
  if (keys.size >= 1_000) keys.clear();
  keys.set(secret, key);
  return key;
}

/**
 * Returns a copy of the signed bytes (timestamp, dot and body), so that the caller cannot change them during
 * the check.
 */
function signedBytes(timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = timestamp.length + 1;
  const signed = new Uint8Array(head + body.length);
  encoder.encodeInto(`${timestamp}.`, signed);
  signed.set(body, head);
  return signed;
}

/** Computes the signature of a delivery, as in node.ts, with WebCrypto. */
export async function sign(secret: string, timestamp: string, body: Uint8Array): Promise<string> {
  const signed = signedBytes(timestamp, body);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), signed));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns the index of the first secret that matches the signature, or -1. WebCrypto compares in constant
 * time.
 */
export async function matchingSecret(
  secrets: readonly string[],
  timestamp: string,
  body: Uint8Array,
  signature: string,
): Promise<number> {
  const signed = signedBytes(timestamp, body);
  const given = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(signature.slice(2 * index, 2 * index + 2), 16),
  );
  const matches = await Promise.all(
    secrets.map(async (secret) => crypto.subtle.verify('HMAC', await keyOf(secret), given, signed)),
  );
  return matches.indexOf(true);
}

/** Returns a random UUID, which identifies one claim of an event. */
export function uniqueToken(): string {
  return crypto.randomUUID();
}
