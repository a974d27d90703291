import { crc32 } from 'node:zlib';
import type { Mode } from '../ports/partners.ts';
import type { Random } from './random.ts';

/** The request header that carries an API key. */
export const apiKeyHeader = 'X-API-Key';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 256 bits in digits of 62. */
const secretLength = 43;

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`;
  return text;
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), 6);

/** Prefix, mode, secret, and a checksum, so that a typo is refused without a database query. */
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
 * Returns the place at which an API key's signing secret is sealed. It can only be opened for the same place.
 */
export function signingSecretContext(keyId: string): string {
  return `api_keys/${keyId}/signing_secret`;
}
