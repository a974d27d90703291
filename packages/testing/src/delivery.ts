import type { WebhookRequest } from '@ostiary/core/internal';
import type { Mode } from '@ostiary/core/storage';

/**
 * A webhook delivery attempt, as it was sent.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * await kit.webhooks.register('https://shop.example/webhooks');
 * await kit.clock.advance('1m');
 * for (const { type, event, status } of kit.inbox.deliveries) console.log(type, event.data, status);
 * ```
 */
export interface CapturedDelivery {
  /** URL of the endpoint. */
  readonly url: string;
  /** Id of the event, `evt_…`, the same on every attempt. */
  readonly id: string;
  readonly type: string;
  /** Parsed body of the webhook. */
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly createdAt: string;
    readonly mode: Mode;
    readonly data: Readonly<Record<string, unknown>>;
  };
  /** Request headers, including the signature. */
  readonly headers: Headers;
  /** Raw body, whose bytes were signed. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Time of the attempt by the test kit's clock, in milliseconds since the Unix epoch. */
  readonly sentAt: number;
  /** Status of the partner's response; `null` before it arrives, and if the partner's code threw. */
  readonly status: number | null;
  /** Error that the partner's code threw, if any. */
  readonly error: unknown;
  /** Returns the delivery as a request, to pass to a receiver again. */
  request(): Request;
}

/** Variant of an object type without `readonly`, for an object that is filled step by step. */
export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Creates the record of an attempt from its request. */
export function captured({ url, headers, body }: WebhookRequest, sentAt: number): Writable<CapturedDelivery> {
  const bytes = Uint8Array.from(typeof body === 'string' ? Buffer.from(body) : body);
  const event = JSON.parse(Buffer.from(bytes).toString()) as CapturedDelivery['event'];
  const sent = new Headers(headers);
  return {
    url,
    id: event.id,
    type: event.type,
    event,
    headers: sent,
    body: bytes,
    sentAt,
    status: null,
    error: undefined,
    request: () => new Request(url, { method: 'POST', headers: sent, body: bytes }),
  };
}
