import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** Seconds for which an authenticator app shows one code (RFC 6238). */
const period = 30;
/** Number of earlier and later codes that are accepted, because clocks differ. */
const window = 1;

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const recoveryCodes = 10;

const totpOf = (secret: Uint8Array, issuer = '', label = ''): TOTP =>
  new TOTP({
    ...{ issuer, label, period, digits: 6, algorithm: 'SHA1' },
    // A copy, because a view of a pooled buffer would reveal its neighbours to the library.
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
  });

/**
 * Returns the time step of a typed one-time code, or `null` for a wrong code. The caller accepts each step
 * once only (RFC 6238, section 5.2).
 */
export function stepOf(secret: Uint8Array, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window });
  return delta === null ? null : Math.floor(now / 1_000 / period) + delta;
}

/** Returns the URL for the QR code that an authenticator app reads, and the secret to type instead. */
export function enrolment(secret: Uint8Array, issuer: string, email: string) {
  const totp = totpOf(secret, issuer, email);
  return { url: totp.toString(), secret: totp.secret.base32 };
}

/** Generates recovery codes of 60 bits, such as `7K3Q-M2XR-90WD`. */
export function newRecoveryCodes(): readonly string[] {
  const one = (): string => [...randomBytes(12)].map((byte) => alphabet[byte % 32]).join('');
  return Array.from({ length: recoveryCodes }, () => one().replace(/(.{4})(?=.)/g, '$1-'));
}

/**
 * Returns the digest under which a recovery code is stored. Case and separators of the typed code do not
 * matter.
 */
export function recoveryDigest(code: string): Buffer {
  return createHash('sha256')
    .update(code.toUpperCase().replace(/[^0-9A-Z]/g, ''))
    .digest();
}
