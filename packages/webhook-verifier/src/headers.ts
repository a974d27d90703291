import { WebhookVerificationError } from './errors.ts';

/** The part of Fetch's `Headers` that the package uses. */
interface HeadersLike {
  get(name: string): string | null;
}

/**
 * Headers of a delivery: `Headers`, the headers of a Node request, or a plain object with names in any case.
 */
export type WebhookHeaders =
  | HeadersLike
  | { readonly [name: string]: string | readonly string[] | null | undefined };

/**
 * Matches a header value of printable characters. Commas are not allowed, because a repeated header arrives
 * as one value with a comma.
 */
const printable = /^[!-+\--~]{1,255}$/;

/**
 * Headers of a webhook: the part of the name after `X-<PREFIX>-`, and the format. All lengths are bounded, so
 * that a huge header is not read to its end.
 */
const wire: readonly (readonly [suffix: string, format: RegExp, description: string])[] = [
  ['Event', printable, 'an event type'],
  ['EventId', printable, 'an event id'],
  ['Timestamp', /^[1-9]\d{0,11}$/, 'Unix time in seconds'],
  ['Signature', /^[0-9a-f]{64}$/, '64 lower-case hex digits'],
  ['Partner', /^[a-z0-9-]{2,40}$/, 'a slug'],
  ['Attempt', /^[1-9]\d{0,3}$/, 'a number'],
];

/**
 * Header names of a webhook for one prefix, in the order of the table `wire` in this file: as they are sent,
 * and in lower case.
 */
export interface HeaderNames {
  readonly shown: readonly string[];
  readonly lower: readonly string[];
}

/**
 * Cache of the header names by prefix: making them for each webhook would take a third of the verification
 * time.
 */
const known = new Map<string, HeaderNames>();

/** Returns the header names for an installation's prefix. @throws TypeError for an invalid prefix */
export function headerNames(prefix = 'svc'): HeaderNames {
  let names = known.get(prefix);
  if (names === undefined) {
    if (!/^[a-z][a-z0-9]{1,15}$/.test(prefix)) {
      throw new TypeError('prefix must match /^[a-z][a-z0-9]{1,15}$/');
    }
    const shown = wire.map(([suffix]) => `X-${prefix.toUpperCase()}-${suffix}`);
    names = { shown, lower: shown.map((name) => name.toLowerCase()) };
    known.set(prefix, names);
  }
  return names;
}

/**
 * Checked headers of a webhook, in the order of the table `wire` in this file. Only the attempt number may be
 * missing.
 */
export type WireHeaders = readonly [
  type: string,
  id: string,
  timestamp: string,
  signature: string,
  partner: string,
  attempt: string | null,
];

/**
 * Picks the six headers of a webhook from an object with names in any case. A repeated header becomes a list.
 */
function pick(headers: Exclude<WebhookHeaders, HeadersLike>, lower: readonly string[]): unknown[] {
  const values: unknown[] = [];
  for (const name of Object.keys(headers)) {
    const index = lower.indexOf(name.toLowerCase());
    const value = headers[name] ?? null;
    if (index < 0 || value === null) continue;
    values[index] = values[index] === undefined ? value : [values[index], value];
  }
  return values;
}

/**
 * Reads the headers of a webhook and checks their formats. @throws WebhookVerificationError `missing_header`,
 * `malformed_header`
 */
export function readHeaders(headers: WebhookHeaders, { shown, lower }: HeaderNames): WireHeaders {
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('headers must be an object');
  }
  const found =
    typeof headers.get === 'function'
      ? lower.map((name): unknown => (headers as HeadersLike).get(name))
      : pick(headers as Exclude<WebhookHeaders, HeadersLike>, lower);
  return wire.map(([suffix, format, description], index) => {
    let value = found[index] ?? null;
    if (Array.isArray(value) && value.length < 2) value = value[0] ?? null;
    if (value === null) {
      if (suffix === 'Attempt') return null;
      throw new WebhookVerificationError(
        'missing_header',
        `The header ${shown[index]} is missing. Does every proxy pass it on?`,
      );
    }
    if (typeof value !== 'string' || !format.test(value)) {
      throw new WebhookVerificationError(
        'malformed_header',
        `The header ${shown[index]} must be ${description}, once.`,
      );
    }
    return value;
  }) as readonly unknown[] as WireHeaders;
}
