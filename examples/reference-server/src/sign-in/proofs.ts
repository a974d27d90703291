import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Keys for signatures: the first key signs, all keys verify. Processes may have the keys in different orders
 * while they are replaced.
 */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Makes and verifies signatures of values that pass through a browser. */
export function createProofs(keys: SigningKeys) {
  const prove = (key: Uint8Array, parts: readonly string[]): Buffer =>
    createHmac('sha256', key).update(parts.join('\n')).digest();

  return {
    /**
     * Signs a list of texts, which are joined by line breaks: only the last text may contain a line break.
     */
    of: (...parts: readonly string[]): string => prove(keys[0], parts).toString('base64url'),
    isOf(proof: string, ...parts: readonly string[]): boolean {
      const given = Buffer.from(proof, 'base64url');
      return keys.some((key) => {
        const expected = prove(key, parts);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}
