import type { RawBody } from '../body.ts';
import { type DedupeStore, handleOnce } from '../dedupe/store.ts';
import { WebhookVerificationError } from '../errors.ts';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import type { WebhookHeaders } from '../headers.ts';
import { checkOptions, type VerifyOptions } from '../options.ts';
import { type VerifiedDelivery, verify } from '../verify.ts';

/** Longest body that a receiver accepts by default, in bytes. */
export const defaultMaxBodyBytes = 1_048_576;

/** Options of a webhook receiver in every framework. */
export interface ReceiverOptions extends VerifyOptions {
  /**
   * Returns the current time, in milliseconds since the Unix epoch. It must be a function, because a receiver
   * handles many webhooks. @defaultValue `Date.now`
   */
  readonly now?: (() => number) | undefined;
  /**
   * Maximum size of a request body, in bytes. Longer bodies are refused with 413.
   * @defaultValue 1 048 576
   */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Dedupe store, which remembers handled events: duplicates are acknowledged without running your handler.
   * @defaultValue no store
   */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * Maximum time that a handler may run before another delivery of the same event takes over, in
   * milliseconds. Used only with `dedupe`.
   * @defaultValue 45 000
   */
  readonly leaseMs?: number | undefined;
  /**
   * Function that is called for every response with status 500: an error of your handler or the store, or a
   * body that was parsed or read before. It is not called for a 503 while the event is being handled.
   * @defaultValue `console.error`
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * Function that is called for every delivery that is refused with a 4xx status. @defaultValue no callback
   */
  readonly onRefused?: ((error: WebhookVerificationError) => void) | undefined;
}

/**
 * Handles an event. When your handler is done, the webhook is acknowledged. If the handler throws, the sender
 * tries again. The sender waits 10 seconds, so put longer work into a queue.
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

/**
 * Reads the body of a request. @throws WebhookVerificationError `body_too_large` if it is longer than
 * `maxBytes`
 */
type BodyReader = (maxBytes: number) => RawBody | Promise<RawBody>;

/**
 * Receives one webhook, for all frameworks: reads and verifies it, handles it (with `dedupe` only once), and
 * returns the response.
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

/**
 * Returns the response to a refused webhook: 4xx if the sender must correct the request, 5xx if the
 * receiver's code must change.
 */
function refusal(error: WebhookVerificationError): Answer {
  const { code, message } = error;
  if (code === 'body_already_parsed' || code === 'body_already_read') {
    return answer(500, { error: code, message });
  }
  return answer(code === 'body_too_large' ? 413 : 400, { error: code, message });
}

/**
 * Makes the webhook receiver of a framework, and checks the options at once. @throws TypeError for wrong
 * options; WebhookVerificationError `weak_secret`
 */
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

/** Checks the length of a request body. @throws WebhookVerificationError `body_too_large` */
export function requireSize(bytes: number, most: number): void {
  if (bytes > most) {
    throw new WebhookVerificationError('body_too_large', `The body has more than ${most} bytes.`);
  }
}
