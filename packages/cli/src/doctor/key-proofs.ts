import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

function derive(sealingKey: string, purpose: string, length: number): Buffer {
  const key = Buffer.from(sealingKey, 'base64url');
  return Buffer.from(hkdfSync('sha256', key, '', `ostiary ${purpose}`, length));
}

/** Derives an id from a sealing key. The id reveals nothing about the key. */
export const keyIdOf = (sealingKey: string): string => derive(sealingKey, 'key id', 6).toString('hex');

/**
 * Returns the id by which encrypted values refer to their sealing key. The id reveals nothing about the key.
 */
export function sealIdOf(sealingKey: string): string {
  const named = createHash('sha256')
    .update('ostiary sealing key id')
    .update(Buffer.from(sealingKey, 'base64url'));
  return named.digest('hex').slice(0, 12);
}

/** Computes a proof that the author of the message `said` has a sealing key. */
export function proofOf(sealingKey: string, said: string): string {
  return createHmac('sha256', derive(sealingKey, 'doctor', 32))
    .update(said)
    .digest('hex');
}

/** Returns the sealing key with which the proof of a message was made, or `undefined`. */
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
