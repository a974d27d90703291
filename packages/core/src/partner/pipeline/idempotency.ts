import { createHmac, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PartnerError } from '../../errors.ts';
import type { IdempotencyRequest } from '../../replays.ts';

/** Answers are kept this long, in milliseconds. */
export const idempotencyLifetimeMs = 24 * 3600_000;

function malformed(message: string): PartnerError {
  return new PartnerError('invalid_request', { details: [{ path: 'Idempotency-Key', message }] });
}

/** The header's values as they came: Node joins repeated ones. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/**
 * The `Idempotency-Key` of a request. A quoted value (a structured field string) and a bare one are the same key.
 * @returns `null` when there is none
 * @throws PartnerError `invalid_request`
 */
function keyOf(request: IncomingMessage): string | null {
  const values = valuesOf(request, 'idempotency-key');
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw malformed('is given twice');
  return checkedKey(/^"(.*)"$/.exec(value)?.[1] ?? value);
}

/** @throws PartnerError `invalid_request` */
function checkedKey(key: string): string {
  if (!/^[\x20-\x7E]{1,255}$/.test(key)) throw malformed('takes 1 to 255 printable ASCII characters');
  return key;
}

/** What a request is, for its fingerprint. */
interface Fingerprinted {
  readonly method: string;
  readonly route: string;
  readonly body: Buffer;
  readonly now: number;
}

/** The same for a look before the request is checked: `null` for a malformed one too. */
export function usableKeyOf(request: IncomingMessage): string | null {
  try {
    return keyOf(request);
  } catch {
    return null;
  }
}

/**
 * Reads the `Idempotency-Key` of a request, and makes its fingerprint.
 * @returns `null` when there is none
 * @throws PartnerError `invalid_request`
 */
export function readIdempotencyKey(
  request: IncomingMessage,
  macKeys: readonly KeyObject[],
  what: Fingerprinted,
): IdempotencyRequest | null {
  const key = keyOf(request);
  return key === null ? null : repeatable(key, macKeys, what);
}

/**
 * A request that takes effect once, with its fingerprint.
 * @param macKeys - under which fingerprints are computed, so that what is stored tells nothing of the
 * payload; the current one first
 * @throws PartnerError `invalid_request` for a malformed key
 */
export function repeatable(
  given: string,
  macKeys: readonly KeyObject[],
  what: Fingerprinted,
): IdempotencyRequest {
  const key = checkedKey(given);
  const [fingerprint, ...previous] = macKeys.map((macKey) =>
    createHmac('sha256', macKey).update(`${what.method} ${what.route}\n`).update(what.body).digest(),
  );
  if (fingerprint === undefined) throw new TypeError('a fingerprint needs a key');
  return { key, fingerprint, previous, endsAt: what.now + idempotencyLifetimeMs };
}
