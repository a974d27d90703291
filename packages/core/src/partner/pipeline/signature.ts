import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import { signingSecretContext } from '../../secrets/api-key-format.ts';
import { equalDigests } from '../../secrets/tokens.ts';
import type { Caller } from './caller.ts';

/**
 * Maximum difference between a signature's timestamp and the current time, in either direction, in
 * milliseconds.
 */
const signatureToleranceMs = 300_000;

function refused(description: string): PartnerError {
  return new PartnerError('invalid_signature', { description });
}

/**
 * Checks the signature of a request: lower-case hexadecimal HMAC-SHA-256 of the raw body. It proves
 * integrity, not freshness: neither the timestamp nor the `Idempotency-Key` is signed. A `reference` in the
 * body protects against a replayed body.
 * @param body - raw bytes of the body
 * @throws PartnerError `invalid_signature` if the signature is wrong, incomplete, too far from the current
 * time, sent without a body, or missing though required
 */
export function checkSignature(
  { sealer, options: { prefix } }: Core,
  key: Caller,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
): void {
  const signature = headers[`x-${prefix}-signature`];
  const timestamp = headers[`x-${prefix}-timestamp`];
  if (signature === undefined && timestamp === undefined) {
    if (key.requireSignature && body.length > 0) throw refused('This API key requires signed requests.');
    return;
  }
  if (typeof signature !== 'string' || typeof timestamp !== 'string') {
    throw refused('A signed request carries a signature and a timestamp, once each.');
  }
  if (body.length === 0) throw refused('Only requests with a body are signed.');
  if (!/^[0-9]{10,16}$/.test(timestamp)) {
    throw refused('The timestamp has to be the current time in milliseconds since the Unix epoch.');
  }
  // Check the time before the signature, so that this error depends on the request alone and not on the key.
  if (Math.abs(now - Number(timestamp)) > signatureToleranceMs) {
    throw refused(
      `The timestamp is outside the tolerance of ${signatureToleranceMs / 1000} s; it has to be the current time in milliseconds since the Unix epoch.`,
    );
  }
  const secret = sealer.open(key.sealedSigningSecret, signingSecretContext(key.id));
  const expected = createHmac('sha256', secret).update(body).digest();
  if (!/^[0-9a-f]{64}$/.test(signature) || !equalDigests(Buffer.from(signature, 'hex'), expected)) {
    throw refused('The signature does not match the body.');
  }
}
