import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SigningKeys } from '../sign-in/proofs.ts';

const algorithm = 'aes-256-gcm';
const [nonceBytes, tagBytes] = [12, 16];

/** Purpose for which the keys of one-time codes are derived from the sealing keys. */
export const staffCodes = 'staff codes';

/** Encrypts values that the database stores but must not reveal. */
export type Sealer = ReturnType<typeof createSealer>;

/**
 * Makes the functions that encrypt a value for one row (AES-256-GCM). If the value is copied to another row,
 * it cannot be decrypted there.
 * @param keys - the first key encrypts, all decrypt
 */
export function createSealer(keys: SigningKeys) {
  const openWith = (key: Uint8Array, sealed: Buffer, row: string): Buffer | null => {
    if (sealed.length < nonceBytes + tagBytes) return null;
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(row));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      return null;
    }
  };

  return {
    seal(value: Uint8Array, row: string): string {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keys[0], nonce);
      cipher.setAAD(Buffer.from(row));
      const sealed = Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
      return sealed.toString('base64url');
    },
    /** Checks whether the first key encrypted the value of a row, so that no other key is needed for it. */
    isCurrent: (text: string, row: string): boolean =>
      openWith(keys[0], Buffer.from(text, 'base64url'), row) !== null,
    /** Decrypts the encrypted value of a row; `null` if none of the keys can. */
    open(text: string, row: string): Buffer | null {
      const sealed = Buffer.from(text, 'base64url');
      for (const key of keys) {
        const value = openWith(key, sealed, row);
        if (value !== null) return value;
      }
      return null;
    },
  };
}
