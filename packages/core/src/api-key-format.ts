import { crc32 } from 'node:zlib';
import type { Mode } from './ports/partners.ts';
import type { Random } from './random.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 digits of 62: a little more than 256 bits. */
const secretLength = 43;

function base62(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      // Bytes beyond the last whole multiple of 62 would make some digits more likely than others.
      if (byte < 248 && text.length < length) text += digits[byte % 62];
    }
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let encoded = '';
  for (let place = 0; place < 6; place += 1) {
    encoded = `${digits[rest % 62]}${encoded}`;
    rest = Math.floor(rest / 62);
  }
  return encoded;
}

/** Prefix, mode, secret, and a checksum: a typo is refused without a look at the database. */
export function apiKeyFormat(prefix: string) {
  const format = new RegExp(`^${prefix}_(?:live|test)_[0-9A-Za-z]{${secretLength + 6}}$`);
  return {
    newKey(mode: Mode, random: Random): string {
      const key = `${prefix}_${mode}_${base62(random, secretLength)}`;
      return key + checksum(key);
    },
    isKey: (text: string): boolean => format.test(text) && checksum(text.slice(0, -6)) === text.slice(-6),
  };
}

export type ApiKeyFormat = ReturnType<typeof apiKeyFormat>;

/** Where an API key's sealed secret is written down: it opens nowhere else. */
export function signingSecretContext(keyId: string): string {
  return `api_keys/${keyId}/signing_secret`;
}
