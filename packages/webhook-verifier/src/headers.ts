import { WebhookVerificationError } from './errors.ts';

/** The `Headers` of Fetch, as far as they are needed. */
interface HeadersLike {
  get(name: string): string | null;
}

/** Headers of a delivery: `Headers`, those of a Node request, or a plain object; names in any case. */
export type WebhookHeaders =
  | HeadersLike
  | { readonly [name: string]: string | readonly string[] | null | undefined };

/** What each header of the wire is called after `X-<PREFIX>-`. */
const suffixes = ['Event', 'EventId', 'Timestamp', 'Signature', 'Partner', 'Attempt'] as const;

/** Header names of one wire prefix; `lower` and `shown` have the order of the suffixes. */
export interface HeaderNames {
  readonly shown: readonly string[];
  readonly lower: readonly string[];
}

const known = new Map<string, HeaderNames>();

/** @throws TypeError when the prefix is none */
export function headerNames(prefix = 'svc'): HeaderNames {
  const cached = known.get(prefix);
  if (cached !== undefined) return cached;
  if (typeof prefix !== 'string' || !/^[a-z][a-z0-9]{1,15}$/.test(prefix)) {
    throw new TypeError('prefix must be 2 to 16 lower-case letters and digits, a letter first');
  }
  const shown = suffixes.map((suffix) => `X-${prefix.toUpperCase()}-${suffix}`);
  const names = { shown, lower: shown.map((name) => name.toLowerCase()) };
  if (known.size < 64) known.set(prefix, names);
  return names;
}

/**
 * The headers of a delivery, each in its format, in the order of the suffixes. The attempt says more than has to be said: whoever sends
 * no such header has sent all that a delivery needs.
 */
export type WireHeaders = readonly [
  type: string,
  id: string,
  timestamp: string,
  signature: string,
  partner: string,
  attempt: string | null,
];

const malformed = (name: string | undefined, problem: string): WebhookVerificationError =>
  new WebhookVerificationError('malformed_header', `The header ${name} ${problem}.`);

/** No comma: a header that came twice arrives as one with a comma in it. */
const printable = /^[!-+\--~]{1,255}$/;

/** In the order of the suffixes. All are bounded, so that a header of megabytes is not read to its end. */
const formats: readonly (readonly [RegExp, description: string])[] = [
  [printable, 'an event type'],
  [printable, 'an event id'],
  [/^[1-9]\d{0,11}$/, 'Unix time in seconds'],
  [/^[0-9a-f]{64}$/, '64 lower-case hex digits'],
  [/^[a-z0-9-]{2,40}$/, 'a slug'],
  [/^[1-9]\d{0,3}$/, 'a number'],
];

/** Picks the six out of an object whose names may be in any case, each at most once. */
function pick(headers: Exclude<WebhookHeaders, HeadersLike>, { shown, lower }: HeaderNames): unknown[] {
  const values: unknown[] = [];
  for (const name of Object.keys(headers)) {
    // Most headers do not begin with an x; they are not worth a comparison.
    if ((name.charCodeAt(0) | 32) !== 120) continue;
    const index = lower.indexOf(name.toLowerCase());
    const value = headers[name] ?? null;
    if (index === -1 || value === null) continue;
    if (values[index] !== undefined) throw malformed(shown[index], 'came more than once');
    values[index] = value;
  }
  return values;
}

/** @throws WebhookVerificationError `missing_header`, `malformed_header` */
export function readHeaders(headers: WebhookHeaders, names: HeaderNames): WireHeaders {
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('headers must be Headers or an object');
  }
  const found =
    typeof headers.get === 'function'
      ? names.lower.map((name): unknown => (headers as HeadersLike).get(name))
      : pick(headers as Exclude<WebhookHeaders, HeadersLike>, names);
  for (let index = 0; index < formats.length; index += 1) {
    const [format, description] = formats[index] as (typeof formats)[number];
    const name = names.shown[index];
    let value = found[index] ?? null;
    if (Array.isArray(value)) {
      if (value.length > 1) throw malformed(name, 'came more than once');
      value = value[0] ?? null;
    }
    if (value === null) {
      // Only the last one, the attempt, may be missing.
      if (index < 5) {
        throw new WebhookVerificationError(
          'missing_header',
          `The header ${name} is missing. Does every proxy pass it on?`,
        );
      }
    } else if (typeof value !== 'string' || !format.test(value)) {
      throw malformed(name, `must be ${description}, once`);
    }
    found[index] = value;
  }
  return found as readonly unknown[] as WireHeaders;
}
