import { matchingSecret } from '#platform';
import { bytesOf, type RawBody, textOf } from './body.ts';
import { WebhookVerificationError } from './errors.ts';
import type { AnyEvent, WebhookEvent } from './events.ts';
import { readHeaders, type WebhookHeaders } from './headers.ts';
import { checkOptions, type VerifyOptions } from './options.ts';

/** A delivery whose signature, age and id were checked. `type` determines the type of `event`. */
export type VerifiedDelivery<Event extends AnyEvent = WebhookEvent> = Event extends AnyEvent
  ? {
      /** The signed body. */
      readonly event: Event;
      /** `evt_…`; remember it to recognise duplicates. */
      readonly id: string;
      readonly type: Event['type'];
      /** Time of this attempt's signature, in Unix seconds. */
      readonly timestamp: number;
      /** Number of the attempt, from 1; null if the sender does not send it. The header is not signed. */
      readonly attempt: number | null;
      /** The slug of the partner that the event is for. A header that is not signed. */
      readonly partner: string;
      /** The index of the secret that matched; 0 for `secret`. */
      readonly matchedSecret: number;
    }
  : never;

/** Result of {@link safeVerify}. */
export type VerifyResult<Event extends AnyEvent = WebhookEvent> =
  | { readonly ok: true; readonly delivery: VerifiedDelivery<Event> }
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** @param age - in seconds; below 0 in the future */
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
  // JSON never begins with an e, base64 of an object does.
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

/** Parses the signed text as an event. Headers are not signed, so they must agree with the event. */
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
 * Verifies a delivery: headers, age, signature over the raw bytes, and that id and type in the headers are the signed ones.
 *
 * @param rawBody - the body as it arrived. A string is taken as UTF-8.
 * @param headers - the headers of the request
 * @typeParam Event - the events that may come; by default Ostiary's
 * @throws WebhookVerificationError, with a stable `code`, when the delivery must not be trusted
 * @throws TypeError when the options are wrong
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
  // Decoded before anything is awaited: bytes that change meanwhile are not what was checked.
  const text = textOf(bytes);
  const match = matchingSecret(secrets, signedAt, bytes, signature);
  // Node answers at once; not to wait there saves a tenth of the time.
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
 * Like {@link verify}, but answers a refusal instead of throwing it.
 * @throws TypeError when the options are wrong
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
