import { matchingSecret } from '#platform';
import { bytesOf, type RawBody, textOf } from './body.ts';
import { WebhookVerificationError } from './errors.ts';
import type { AnyEvent, WebhookEvent } from './events.ts';
import { readHeaders, type WebhookHeaders } from './headers.ts';
import { checkOptions, type VerifyOptions } from './options.ts';

/** A webhook whose signature, age, id and type are verified. `type` determines the type of `event`. */
export type VerifiedDelivery<Event extends AnyEvent = WebhookEvent> = Event extends AnyEvent
  ? {
      /** Event that the signed body of the webhook contains. */
      readonly event: Event;
      /** Id of the event, such as `evt_…`. Store it to recognise duplicates. */
      readonly id: string;
      readonly type: Event['type'];
      /** Time at which the service signed this delivery attempt, in Unix seconds. */
      readonly timestamp: number;
      /** Number of the attempt, from 1; null if the header is missing. The header is not signed. */
      readonly attempt: number | null;
      /** Slug of the partner that the event is for. The header is not signed. */
      readonly partner: string;
      /** Index of the secret with which the webhook was signed; 0 for `secret`. */
      readonly matchedSecret: number;
    }
  : never;

/** Result of {@link safeVerify}. */
export type VerifyResult<Event extends AnyEvent = WebhookEvent> =
  | { readonly ok: true; readonly delivery: VerifiedDelivery<Event> }
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** Refuses a timestamp outside the tolerance. @param age - age in seconds, negative for a time in the future */
function checkAge(age: number, tolerance: number): void {
  if (Math.abs(age) > tolerance) {
    const [code, where] =
      age > 0 ? (['timestamp_too_old', 'ago'] as const) : (['timestamp_too_new', 'ahead'] as const);
    throw new WebhookVerificationError(
      code,
      `The delivery was signed more than ${tolerance} s ${where}: a replay, or this clock is wrong.`,
    );
  }
}

function mismatch(rawBody: RawBody, text: string | null): WebhookVerificationError {
  const lossy = typeof rawBody === 'string' && rawBody.includes('\uFFFD');
  // JSON never begins with an e, but Base64 of a JSON object does.
  const body =
    text?.[0] === 'e'
      ? 'is base64'
      : lossy
        ? 'was decoded wrongly'
        : 'was changed, or parsed and written again';
  return new WebhookVerificationError(
    'signature_mismatch',
    `The signature does not match: another secret, a newline in it, or the body ${body}. Pass the bytes as they arrived.`,
  );
}

const unlike = (member: 'id' | 'type'): WebhookVerificationError =>
  new WebhookVerificationError(
    `${member}_mismatch`,
    `The ${member} in the header is not the one in the signed body.`,
  );

/**
 * Parses the signed text as an event. The headers with type and id are not signed, so their values must equal
 * those of the event.
 */
function eventOf(text: string | null, type: string, id: string): AnyEvent {
  if (text === null) {
    throw new WebhookVerificationError('body_not_utf8', 'The signed body is not UTF-8.');
  }
  let event: AnyEvent | null;
  try {
    event = JSON.parse(text);
  } catch {
    // The parser's message would quote the body.
    throw new WebhookVerificationError(
      'body_not_json',
      'The signed body is not JSON, or has a byte order mark.',
    );
  }
  if (event?.id !== id) throw unlike('id');
  if (event.type !== type) throw unlike('type');
  return event;
}

/**
 * Verifies a webhook: the format of the headers, the age, the signature over the raw bytes, and that the id
 * and type in the headers equal the signed ones.
 *
 * @param rawBody - body exactly as it arrived; a string is taken as UTF-8
 * @param headers - headers of the request
 * @typeParam Event - events that may arrive; by default Ostiary's
 * @throws WebhookVerificationError, with a stable `code`, if the delivery must not be trusted, the raw body
 * is missing or was parsed, or a secret is weak
 * @throws TypeError for wrong options, or headers that are not an object
 * @example
 * ```ts
 * const { event } = await verify(await request.arrayBuffer(), request.headers, { secret });
 * if (event.type === 'payment.completed') console.log(event.data.amount);
 * ```
 */
export async function verify<Event extends AnyEvent = WebhookEvent>(
  rawBody: RawBody,
  headers: WebhookHeaders,
  options: VerifyOptions,
): Promise<VerifiedDelivery<Event>> {
  const { secrets, tolerance, now, names } = checkOptions(options);
  const bytes = bytesOf(rawBody);
  const [type, id, signedAt, signature, partner, attempt] = readHeaders(headers, names);
  const timestamp = Number(signedAt);
  checkAge((now - timestamp * 1000) / 1000, tolerance);
  // Decode before the first await: bytes that change later would not be the verified ones.
  const text = textOf(bytes);
  const match = matchingSecret(secrets, signedAt, bytes, signature);
  // Node returns the result synchronously. Not awaiting it saves a tenth of the time.
  const matchedSecret = typeof match === 'number' ? match : await match;
  if (matchedSecret < 0) throw mismatch(rawBody, text);
  return {
    event: eventOf(text, type, id),
    id,
    type,
    timestamp,
    attempt: attempt === null ? null : Number(attempt),
    partner,
    matchedSecret,
  } as VerifiedDelivery<AnyEvent> as VerifiedDelivery<Event>;
}

/**
 * Verifies a webhook like {@link verify}, but returns its `WebhookVerificationError` instead of throwing it.
 * @throws TypeError for wrong options, or headers that are not an object
 */
export async function safeVerify<Event extends AnyEvent = WebhookEvent>(
  rawBody: RawBody,
  headers: WebhookHeaders,
  options: VerifyOptions,
): Promise<VerifyResult<Event>> {
  try {
    return { ok: true, delivery: await verify<Event>(rawBody, headers, options) };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { ok: false, error };
    throw error;
  }
}
