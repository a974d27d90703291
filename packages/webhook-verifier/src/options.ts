import { type HeaderNames, headerNames } from './headers.ts';
import { requireStrong } from './secrets.ts';

/** Options of verifying a webhook. */
export interface VerifyOptions {
  /** Secret of the endpoint. Pass either this or {@link VerifyOptions.secrets}. */
  readonly secret?: string | undefined;
  /** Secrets that are accepted while one replaces another: a webhook may be signed with any of them. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * Maximum difference between the timestamp and the current time in either direction, in seconds: above 0,
   * at most 3600.
   * @defaultValue 300
   */
  readonly tolerance?: number | undefined;
  /**
   * Current time, in milliseconds since the Unix epoch, or a function that returns it.
   * @defaultValue `Date.now`
   */
  readonly now?: number | (() => number) | undefined;
  /**
   * Prefix of the installation in header names: `X-<PREFIX>-…`.
   * @defaultValue `'svc'`
   */
  readonly prefix?: string | undefined;
}

/** Options of verifying a webhook, checked and with defaults. */
export interface CheckedOptions {
  readonly secrets: readonly string[];
  /** Maximum difference between timestamp and current time, in seconds. */
  readonly tolerance: number;
  readonly now: number;
  readonly names: HeaderNames;
}

function presentOf(now: VerifyOptions['now'] = Date.now): number {
  const present = typeof now === 'function' ? now() : now;
  // From 1973, since a smaller number is probably in seconds, to the last time that a Date can hold.
  if (!(present >= 1e11 && present <= 8.64e15)) {
    throw new TypeError('now must be Unix time in milliseconds');
  }
  return present;
}

/** Checks options and fills in the defaults. @throws TypeError for wrong options; WebhookVerificationError `weak_secret` */
export function checkOptions(options: VerifyOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const { secret, secrets, tolerance = 300, now, prefix } = options;
  if (!(tolerance > 0 && tolerance <= 3600)) {
    throw new TypeError('tolerance must be above 0, at most 3600');
  }
  if (secrets !== undefined && (secret !== undefined || !Array.isArray(secrets) || secrets.length === 0)) {
    throw new TypeError('give either secret or an array of secrets');
  }
  const all = secrets ?? [secret as string];
  for (const each of all) requireStrong(each);
  return { secrets: all, tolerance, now: presentOf(now), names: headerNames(prefix) };
}
