import type { RawBody } from '../body.ts';
import { type DedupeStore, handleOnce } from '../dedupe/store.ts';
import { WebhookVerificationError } from '../errors.ts';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import type { WebhookHeaders } from '../headers.ts';
import { checkOptions, type VerifyOptions } from '../options.ts';
import { type VerifiedDelivery, verify } from '../verify.ts';

/** Longest body that a receiver takes by default, in bytes. */
export const defaultMaxBodyBytes = 1_048_576;

/** Options of a receiver in every framework. */
export interface ReceiverOptions extends VerifyOptions {
  /** The present, in milliseconds; a receiver lives long, so it is a function. @defaultValue `Date.now` */
  readonly now?: (() => number) | undefined;
  /**
   * Longer bodies are refused with 413.
   * @defaultValue 1 048 576
   */
  readonly maxBodyBytes?: number | undefined;
  /** Remembers handled events: duplicates are acknowledged without running the handler. @defaultValue none */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * Maximum time for which a handler may hold an event, in milliseconds; used with `dedupe` only.
   * @defaultValue 45 000
   */
  readonly leaseMs?: number | undefined;
  /**
   * Called for every response with a 5xx: an error of the handler or the store, or a body that was parsed or
   * read before.
   * @defaultValue `console.error`
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called for every delivery that is refused with a 4xx. @defaultValue nothing */
  readonly onRefused?: ((error: WebhookVerificationError) => void) | undefined;
}

/**
 * Does what an event asks for. When it is done the delivery is acknowledged; when it throws, the sender tries again. The sender
 * waits for 10 seconds: longer work belongs into a queue.
 */
export type WebhookHandler<Event extends AnyEvent, Context> = (
  delivery: VerifiedDelivery<Event>,
  context: Context,
) => unknown;

/** Response to the sender, as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** Reads the body, up to a maximum length. */
export type BodyReader = (maxBytes: number) => RawBody | Promise<RawBody>;

/**
 * Makes the receiver that all frameworks share. It reads and verifies a delivery, handles it once and chooses
 * the response.
 */
export type Receive<Context> = (
  readBody: BodyReader,
  headers: WebhookHeaders,
  context: Context,
) => Promise<Answer>;

function answer(status: number, content: object, headers: Answer['headers'] = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(content),
  };
}

/** The sender can correct a 4xx. The receiver itself must correct a 5xx. */
function refusal(error: WebhookVerificationError): Answer {
  const { code, message } = error;
  if (code === 'body_already_parsed' || code === 'body_already_read') {
    return answer(500, { error: code, message });
  }
  return answer(code === 'body_too_large' ? 413 : 400, { error: code, message });
}

/** @throws TypeError for misuse; WebhookVerificationError `weak_secret`; both when the receiver is made, not later */
export function receiver<Event extends AnyEvent = WebhookEvent, Context = unknown>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Context>,
): Receive<Context> {
  checkOptions(options);
  const { maxBodyBytes = defaultMaxBodyBytes, dedupe, leaseMs = 45_000, now = Date.now } = options;
  const { onError = (error: unknown) => console.error(error), onRefused = () => undefined } = options;
  if (typeof handler !== 'function') throw new TypeError('handler must be a function');
  if (typeof now !== 'function') throw new TypeError('now must be a function');
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 1) {
    throw new TypeError('maxBodyBytes must be a whole number above 0');
  }
  if (!Number.isSafeInteger(leaseMs) || leaseMs < 1) {
    throw new TypeError('leaseMs must be a whole number of milliseconds above 0');
  }
  const failure = (error: unknown): Answer => {
    onError(error);
    return answer(500, { error: 'handler_failed', message: 'The event was not handled.' });
  };

  return async (readBody, headers, context) => {
    let delivery: VerifiedDelivery<Event>;
    try {
      delivery = await verify<Event>(await readBody(maxBodyBytes), headers, options);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) return failure(error);
      const refused = refusal(error);
      if (refused.status === 500) onError(error);
      else onRefused(error);
      return refused;
    }
    try {
      const handle = () => handler(delivery, context);
      if (dedupe === undefined) {
        await handle();
        return answer(200, { received: true });
      }
      const outcome = await handleOnce(delivery.id, handle, { store: dedupe, leaseMs, now });
      if (outcome !== 'busy') return answer(200, { received: true, duplicate: outcome === 'duplicate' });
      const seconds = `${Math.ceil(leaseMs / 1000)}`;
      const message = 'Another delivery of this event is being handled.';
      return answer(503, { error: 'event_in_progress', message }, { 'Retry-After': seconds });
    } catch (error) {
      return failure(error);
    }
  };
}

/** @throws WebhookVerificationError `body_too_large` */
export function requireSize(bytes: number, most: number): void {
  if (bytes > most) {
    throw new WebhookVerificationError('body_too_large', `The body has more than ${most} bytes.`);
  }
}
