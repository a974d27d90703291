import { WebhookVerificationError } from './errors.ts';

/** Matches texts that result from concatenating unset variables, such as `undefined`, and empty or blank texts. */
const accident = /^(?:undefined|null|NaN|\[object \w+\]|\s)*$/;

/**
 * Matches a lone surrogate, which has no UTF-8 encoding: secrets that differ only there would become the same
 * key, and bodies the same bytes.
 */
export const loneSurrogate = /\p{Surrogate}/u;

/**
 * Returns why a webhook secret is too weak, or `null` if it may be used. A secret needs at least 16 characters,
 * and must not be blank, the text of an unset variable, or a text with a lone surrogate. Use this in forms
 * where secrets are chosen.
 */
export function weaknessOf(secret: unknown): string | null {
  if (typeof secret !== 'string') return 'is not a string';
  if (accident.test(secret)) return 'is empty or not set';
  if (secret.length < 16) return 'is shorter than 16 characters';
  return loneSurrogate.test(secret) ? 'has a lone surrogate' : null;
}

/** Checks that a webhook secret is strong enough. @throws WebhookVerificationError `weak_secret` */
export function requireStrong(secret: string): void {
  const weakness = weaknessOf(secret);
  if (weakness !== null) {
    throw new WebhookVerificationError(
      'weak_secret',
      `The webhook secret ${weakness}. Is the environment variable set?`,
    );
  }
}
