import type { WebhookErrorCode } from './errors.ts';
import { headerNames } from './headers.ts';
import type { SignedDelivery } from './sign.ts';

/** How {@link tamper} reads a delivery. */
export interface TamperOptions {
  /**
   * The wire prefix of the delivery.
   * @defaultValue `'svc'`
   */
  readonly prefix?: string | undefined;
}

/** A delivery that a receiver must refuse. */
export interface TamperedDelivery extends SignedDelivery {
  /** What was done to it, such as `'one bit of the body'`. */
  readonly name: string;
  /** With which code {@link verify} refuses it. */
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

/** The same event, written as a parser and a printer in front of the verifier would. */
function rewritten(body: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2));
}

/**
 * Altered copies of a delivery that was signed just now, for the tests of a receiver: send each to it and expect status 400. It
 * needs no secret, because whoever alters a delivery has none.
 *
 * @throws TypeError when the delivery has not the headers of this prefix
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
  const [type = '', id = '', timestamp = '', signature = ''] = shown;
  const [sentType, sentId, sentAt, sentSignature] = [type, id, timestamp, signature].map((name) => {
    const value = headers[name];
    if (value === undefined) throw new TypeError(`the delivery has no header ${name}`);
    return value;
  }) as [string, string, string, string];

  const bodies = Object.entries({
    'one bit of the first byte': flipped(body, 0),
    'one bit in the middle of the body': flipped(body, body.length >> 1),
    'one bit of the last byte': flipped(body, body.length - 1),
    'a line break after the body': joined(body, '\n'),
    'a byte order mark before the body': joined('\uFEFF', body),
    'the last byte cut off': body.slice(0, -1),
    'no body at all': new Uint8Array(),
    'the body parsed and written again': rewritten(body),
    'the body twice': joined(body, body),
  }).map(
    ([name, altered]): TamperedDelivery => ({
      name,
      code: 'signature_mismatch',
      headers,
      body: altered,
    }),
  );

  const other = (digit: string): string => (digit === '0' ? '1' : '0');
  const altered: readonly (readonly [string, WebhookErrorCode, string, string])[] = [
    ['a timestamp one second later', 'signature_mismatch', timestamp, `${Number(sentAt) + 1}`],
    ['a timestamp one second earlier', 'signature_mismatch', timestamp, `${Number(sentAt) - 1}`],
    ['a timestamp two hours earlier', 'timestamp_too_old', timestamp, `${Number(sentAt) - 7200}`],
    ['a timestamp a year ahead', 'timestamp_too_new', timestamp, `${Number(sentAt) + 31_536_000}`],
    ['a timestamp in milliseconds', 'malformed_header', timestamp, `${Number(sentAt) * 1000}`],
    ['a timestamp with a zero before it', 'malformed_header', timestamp, `0${sentAt}`],
    ['a timestamp twice', 'malformed_header', timestamp, `${sentAt}, ${sentAt}`],
    [
      'the first digit of the signature',
      'signature_mismatch',
      signature,
      other(sentSignature.charAt(0)) + sentSignature.slice(1),
    ],
    [
      'the last digit of the signature',
      'signature_mismatch',
      signature,
      sentSignature.slice(0, -1) + other(sentSignature.slice(-1)),
    ],
    ['a signature of zeros', 'signature_mismatch', signature, '0'.repeat(64)],
    ['a signature cut short', 'malformed_header', signature, sentSignature.slice(0, -2)],
    ['a signature in upper case', 'malformed_header', signature, `${sentSignature.slice(0, -1)}A`],
    ['a signature with its algorithm before it', 'malformed_header', signature, `sha256=${sentSignature}`],
    ['a signature twice', 'malformed_header', signature, `${sentSignature}, ${sentSignature}`],
    ['an empty signature', 'malformed_header', signature, ''],
    ['another id, as in a replay', 'id_mismatch', id, `${sentId}0`],
    ['another type', 'type_mismatch', type, `${sentType}.not`],
  ];
  const changed = altered.map(
    ([name, code, header, value]): TamperedDelivery => ({
      name,
      code,
      headers: { ...headers, [header]: value },
      body,
    }),
  );

  // All but the attempt, which may be missing.
  const missing = shown.slice(0, -1).map(
    (header): TamperedDelivery => ({
      name: `no header ${header}`,
      code: 'missing_header',
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header)),
      body,
    }),
  );
  return [...bodies, ...changed, ...missing];
}
