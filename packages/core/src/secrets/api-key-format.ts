import { crc32 } from 'node:zlib';
import type { Mode } from '../ports/partners.ts';
import type { Random } from './random.ts';

/** Request header that carries the API key. */
export const apiKeyHeader = 'X-API-Key';

/** Name of the API key's request header in Node's lower case. */
export const apiKeyField = apiKeyHeader.toLowerCase();

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Length of an API key's secret part in characters: 256 bits in base 62. */
const secretLength = 43;

/**
 * Number of characters of an API key's secret part by which a key can be found. More than 200 bits stay
 * secret.
 */
const startLength = 8;

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`;
  return text;
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), 6);

/**
 * Returns functions that create and recognize API keys: prefix, mode, secret and a checksum, so that a typo
 * is refused without a database query.
 */
export function apiKeyFormat(prefix: string) {
  const beginning = `${prefix}_(?:live|test)_`;
  const format = new RegExp(`^${beginning}[0-9A-Za-z]{${secretLength + 6}}$`);
  const start = new RegExp(`^${beginning}[0-9A-Za-z]{0,${startLength}}`);
  const testStart = `${prefix}_test_`;
  return {
    newKey(mode: Mode, random: Random): string {
      const secret = BigInt(`0x${random.bytes(32).toString('hex')}`);
      const key = `${prefix}_${mode}_${base62(secret, secretLength)}`;
      return key + checksum(key);
    },
    /**
     * Returns the beginning of a text that is, or may become, an API key; the key can be found by it. `''`
     * for any other text.
     */
    startOf: (text: string): string => start.exec(text)?.[0] ?? '',
    /** Returns the mode that the beginning of an API key names; `live` for any other text. */
    modeOf: (text: string): Mode => (text.startsWith(testStart) ? 'test' : 'live'),
    isKey: (text: string): boolean => format.test(text) && checksum(text.slice(0, -6)) === text.slice(-6),
  };
}

/**
 * Returns the context with which an API key's signing secret is encrypted. The secret can be decrypted only
 * with the same context.
 */
export function signingSecretContext(keyId: string): string {
  return `api_keys/${keyId}/signing_secret`;
}
