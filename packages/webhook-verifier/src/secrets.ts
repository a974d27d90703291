import { WebhookVerificationError } from './errors.ts';

/** Texts that result from concatenating unset variables. */
const accident = /^(?:undefined|null|NaN|\[object \w+\]|\s)*$/;

/** A lone surrogate has no UTF-8 form: every such secret would become the same key. */
export const loneSurrogate = /\p{Surrogate}/u;

/**
 * Says why a webhook secret protects nothing, or returns null if it may be used. A secret needs 16 characters
 * or more and must not be the text of an unset variable. Meant for forms where secrets are chosen.
 */
export function weaknessOf(secret: unknown): string | null {
  if (typeof secret !== 'string') return 'is not a string';
  if (accident.test(secret)) return 'is empty or not set';
  if (secret.length < 16) return 'is shorter than 16 characters';
  return loneSurrogate.test(secret) ? 'has a lone surrogate' : null;
}

/** @throws WebhookVerificationError `weak_secret` */
export function requireStrong(secret: string): void {
  const weakness = weaknessOf(secret);
  if (weakness !== null) {
    throw new WebhookVerificationError(
      'weak_secret',
      `The webhook secret ${weakness}. Is the environment variable set?`,
    );
  }
}
