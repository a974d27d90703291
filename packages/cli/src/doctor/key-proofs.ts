import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

function derive(sealingKey: string, purpose: string, length: number): Buffer {
  const key = Buffer.from(sealingKey, 'base64url');
  return Buffer.from(hkdfSync('sha256', key, '', `ostiary ${purpose}`, length));
}

/** A name of a sealing key, from which nothing of the key can be told. */
export const keyIdOf = (sealingKey: string): string => derive(sealingKey, 'key id', 6).toString('hex');

/** The name that Ostiary gives a sealing key in what it seals with it. Nothing of the key can be told from it either. */
export function sealIdOf(sealingKey: string): string {
  const named = createHash('sha256')
    .update('ostiary sealing key id')
    .update(Buffer.from(sealingKey, 'base64url'));
  return named.digest('hex').slice(0, 12);
}

/** Shows that whoever says something has a sealing key. */
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
