import type { WebhookErrorCode } from './errors.ts';
import { headerNames } from './headers.ts';
import type { SignedDelivery } from './sign.ts';

/** Options of {@link tamper}. */
export interface TamperOptions {
  /**
   * Prefix of the webhook's header names.
   * @defaultValue `'svc'`
   */
  readonly prefix?: string | undefined;
}

/** A forged webhook that a receiver must refuse. */
export interface TamperedDelivery extends SignedDelivery {
  /** Description of the forgery, such as `'one bit of the body'`. */
  readonly name: string;
  /** Code with which {@link verify} refuses the forged webhook. */
  readonly code: WebhookErrorCode;
}

function flipped(bytes: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function joined(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    parts.flatMap((part) => Array.from(typeof part === 'string' ? new TextEncoder().encode(part) : part)),
  );
}

/** Writes the same event in another notation, as a body parser in front of the verifier would. */
function rewritten(body: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2));
}

/**
 * Makes altered copies of a webhook's body, by the description of the change. For each of them the original
 * signature is wrong.
 */
function alteredBodies(body: Uint8Array): { readonly [name: string]: Uint8Array<ArrayBuffer> } {
  return {
    'one bit of the first byte': flipped(body, 0),
    'one bit in the middle of the body': flipped(body, body.length >> 1),
    'one bit of the last byte': flipped(body, body.length - 1),
    'a line break after the body': joined(body, '\n'),
    'a byte order mark before the body': joined('\uFEFF', body),
    'the last byte cut off': joined(body.slice(0, -1)),
    'no body at all': new Uint8Array(),
    'the body parsed and written again': rewritten(body),
    'the body twice': joined(body, body),
  };
}

type Alteration = readonly [name: string, code: WebhookErrorCode, value: string];

/**
 * Returns wrong values for the header with the timestamp, each with a description and the error code that it
 * must cause.
 */
const timestamps = (sent: string): readonly Alteration[] => [
  ['a timestamp one second later', 'signature_mismatch', `${Number(sent) + 1}`],
  ['a timestamp one second earlier', 'signature_mismatch', `${Number(sent) - 1}`],
  ['a timestamp two hours earlier', 'timestamp_too_old', `${Number(sent) - 7200}`],
  ['a timestamp a year ahead', 'timestamp_too_new', `${Number(sent) + 31_536_000}`],
  ['a timestamp in milliseconds', 'malformed_header', `${Number(sent) * 1000}`],
  ['a timestamp with a zero before it', 'malformed_header', `0${sent}`],
  ['a timestamp twice', 'malformed_header', `${sent}, ${sent}`],
];

const other = (digit: string): string => (digit === '0' ? '1' : '0');

/**
 * Returns wrong values for the header with the signature, each with a description and the error code that it
 * must cause.
 */
const signatures = (sent: string): readonly Alteration[] => [
  ['the first digit of the signature', 'signature_mismatch', other(sent.charAt(0)) + sent.slice(1)],
  ['the last digit of the signature', 'signature_mismatch', sent.slice(0, -1) + other(sent.slice(-1))],
  ['a signature of zeros', 'signature_mismatch', '0'.repeat(64)],
  ['a signature cut short', 'malformed_header', sent.slice(0, -2)],
  ['a signature in upper case', 'malformed_header', `${sent.slice(0, -1)}A`],
  ['a signature with its algorithm before it', 'malformed_header', `sha256=${sent}`],
  ['a signature twice', 'malformed_header', `${sent}, ${sent}`],
  ['an empty signature', 'malformed_header', ''],
];

/**
 * Returns forged copies of a webhook that was signed just now, for the tests of a receiver. Send each of them
 * to the receiver and expect status 400. Needs no secret, because an attacker has none.
 *
 * @throws TypeError for an invalid prefix, or if the delivery lacks the headers of this prefix; SyntaxError
 * if its body is not JSON
 * @example
 * ```ts
 * for (const { name, headers, body } of tamper(delivery)) {
 *   const { status } = await fetch(url, { method: 'POST', headers, body });
 *   if (status !== 400) throw new Error(`accepted although ${name} was altered`);
 * }
 * ```
 */
export function tamper(
  { headers, body }: SignedDelivery,
  { prefix }: TamperOptions = {},
): readonly TamperedDelivery[] {
  const { shown } = headerNames(prefix);
  /**
   * Makes copies of the webhook with other values in one header. `place` is the header's index in `wire`, the
   * table of webhook headers in headers.ts.
   */
  const altered = (place: number, alter: (sent: string) => readonly Alteration[]): TamperedDelivery[] => {
    const header = shown[place] ?? '';
    const sent = headers[header];
    if (sent === undefined) throw new TypeError(`the delivery has no header ${header}`);
    return alter(sent).map(([name, code, value]) => ({
      name,
      code,
      headers: { ...headers, [header]: value },
      body,
    }));
  };
  return [
    ...Object.entries(alteredBodies(body)).map(
      ([name, other]): TamperedDelivery => ({ name, code: 'signature_mismatch', headers, body: other }),
    ),
    ...altered(2, timestamps),
    ...altered(3, signatures),
    ...altered(1, (sent) => [['another id, as in a replay', 'id_mismatch', `${sent}0`]]),
    ...altered(0, (sent) => [['another type', 'type_mismatch', `${sent}.not`]]),
    // Every header except the attempt, which may be missing.
    ...shown.slice(0, -1).map(
      (header): TamperedDelivery => ({
        name: `no header ${header}`,
        code: 'missing_header',
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header)),
        body,
      }),
    ),
  ];
}
