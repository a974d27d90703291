import { crc32 } from 'node:zlib';
import type { Mode } from '../ports/partners.ts';
import type { Random } from './random.ts';

/** Request header that carries the API key. */
export const apiKeyHeader = 'X-API-Key';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Length of an API key's secret part: 256 bits in base 62. */
const secretLength = 43;

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`;
  return text;
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), 6);

/**
 * Returns functions that make and recognize API keys: prefix, mode, secret and a checksum, so that a typo is
 * refused without a database query.
 */
export function apiKeyFormat(prefix: string) {
  const format = new RegExp(`^${prefix}_(?:live|test)_[0-9A-Za-z]{${secretLength + 6}}$`);
  return {
    newKey(mode: Mode, random: Random): string {
      const secret = BigInt(`0x${random.bytes(32).toString('hex')}`);
      const key = `${prefix}_${mode}_${base62(secret, secretLength)}`;
      return key + checksum(key);
    },
    isKey: (text: string): boolean => format.test(text) && checksum(text.slice(0, -6)) === text.slice(-6),
  };
}

/**
 * Returns the sealing context of an API key's signing secret. The secret can be decrypted only with the same
 * context.
 */
export function signingSecretContext(keyId: string): string {
  return `api_keys/${keyId}/signing_secret`;
}
