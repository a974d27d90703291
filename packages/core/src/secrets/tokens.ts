import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Random } from './random.ts';

/**
 * Returns the SHA-256 of a text. This is the only form in which codes, tokens, session ids and client secrets
 * are stored, except for imported client secrets that are still slow hashes, and for a code in a response
 * that is kept encrypted for a minute (`GivenAnswer`). Converts via hex: a digest that OpenSSL returns as a
 * buffer lies outside of V8's heap, which takes twice as long.
 */
export function digest(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'), 'hex');
}

/**
 * Returns the SHA-256 of a text as base64, for the key of a map in memory. This is three times as fast as
 * converting bytes to text.
 */
export function digestText(text: string): string {
  return hash('sha256', text, 'base64');
}

/**
 * Minimum length of a client secret from another system for which its SHA-256 is stored, in characters: a
 * shorter one could be guessed from its SHA-256. If a shorter secret was imported as a slow hash, the hash
 * stays.
 */
export const minImportedSecret = 20;

/** Compares two SHA-256 digests in constant time. All secrets in this package are compared with it. */
export function equalDigests(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === 32 && right.length === 32 && timingSafeEqual(left, right);
}

/** Generates a secret of 256 random bits as 43 base64url characters. */
export function randomSecret(random: Random): string {
  return random.bytes(32).toString('base64url');
}

/**
 * Number of characters after the prefix of a refresh token that the tokens which replace it keep: 96 bits,
 * enough to find its grant.
 */
const familyLength = 16;
/**
 * Number of unpredictable bytes in which a refresh token and its replacement differ: 160 bits (RFC 6749,
 * section 10.10).
 */
const successorBytes = 20;

/** Returns functions that create and recognize authorization codes and tokens with the service's prefix. */
export function tokenFormats(prefix: string) {
  const accessToken = new RegExp(`^${prefix}_at_[A-Za-z0-9_-]{43}$`);
  const refreshToken = new RegExp(`^${prefix}_rt_[A-Za-z0-9_-]{43}$`);
  const familyStart = `${prefix}_rt_`.length;
  const familyOf = (text: string): string => text.slice(familyStart, familyStart + familyLength);
  return {
    newAccessToken: (random: Random): string => `${prefix}_at_${randomSecret(random)}`,
    /**
     * Checks whether a text has the format of an access token. A text in another format is refused without a
     * database query.
     */
    isAccessToken: (text: string): boolean => accessToken.test(text),
    newRefreshToken: (random: Random): string => `${prefix}_rt_${randomSecret(random)}`,
    isRefreshToken: (text: string): boolean => refreshToken.test(text),
    /** Returns the part that all refresh tokens of a grant share. */
    familyOfRefreshToken: familyOf,
    /**
     * Derives the refresh token that replaces a given one, with HMAC-SHA-256, so that repeated uses of one
     * token give the same replacement.
     */
    succeedingRefreshToken(presented: string, key: Uint8Array): string {
      const successor = createHmac('sha256', key).update(presented).digest().subarray(0, successorBytes);
      return `${prefix}_rt_${familyOf(presented)}${successor.toString('base64url')}`;
    },
    newClientId: (random: Random): string => `${prefix}_client_${random.bytes(12).toString('hex')}`,
    newClientSecret: (random: Random): string => `${prefix}_secret_${randomSecret(random)}`,
  };
}

export type TokenFormats = ReturnType<typeof tokenFormats>;
