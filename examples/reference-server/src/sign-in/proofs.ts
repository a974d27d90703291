import { createHmac, timingSafeEqual } from 'node:crypto';

/** The first one signs, all are accepted: processes may know them in another order while they are changed. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Signs what goes through a browser and comes back. */
export function createProofs(keys: SigningKeys) {
  const prove = (key: Uint8Array, parts: readonly string[]): Buffer =>
    createHmac('sha256', key).update(parts.join('\n')).digest();

  return {
    /** A proof of parts of which only the last may hold a line break. */
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
