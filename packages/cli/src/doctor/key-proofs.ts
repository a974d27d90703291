import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

function derive(sealingKey: string, purpose: string, length: number): Buffer {
  const key = Buffer.from(sealingKey, 'base64url');
  return Buffer.from(hkdfSync('sha256', key, '', `ostiary ${purpose}`, length));
}

/** Derives a name from a sealing key. The name reveals nothing about the key. */
export const keyIdOf = (sealingKey: string): string => derive(sealingKey, 'key id', 6).toString('hex');

/**
 * Returns the name of a sealing key that Ostiary writes into everything that it seals. The name reveals
 * nothing about the key.
 */
export function sealIdOf(sealingKey: string): string {
  const named = createHash('sha256')
    .update('ostiary sealing key id')
    .update(Buffer.from(sealingKey, 'base64url'));
  return named.digest('hex').slice(0, 12);
}

/** Proves that the author of a message has a sealing key. */
export function proofOf(sealingKey: string, said: string): string {
  return createHmac('sha256', derive(sealingKey, 'doctor', 32))
    .update(said)
    .digest('hex');
}

/** The key by which something was said, or `undefined`. */
export function keyThatProves(
  sealingKeys: readonly string[],
  said: string,
  proof: string,
): string | undefined {
  return sealingKeys.find((key) => {
    const [expected, given] = [Buffer.from(proofOf(key, said)), Buffer.from(proof)];
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
