import type { WebhookRequest } from '@ostiary/core/seams';
import type { Mode } from '@ostiary/core/storage';

/**
 * An attempt of a delivery, as it was sent.
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
  /** The endpoint. */
  readonly url: string;
  /** `evt_…`: the same on every attempt. */
  readonly id: string;
  readonly type: string;
  /** Parsed body. */
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly createdAt: string;
    readonly mode: Mode;
    readonly data: Readonly<Record<string, unknown>>;
  };
  /** With the signature. */
  readonly headers: Headers;
  /** The bytes that were signed. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Time of the attempt, in milliseconds since the Unix epoch, by the clock of the kit. */
  readonly sentAt: number;
  /** Response of the partner; `null` before it arrives, and if the partner's code threw. */
  readonly status: number | null;
  /** Error that the partner's code threw. */
  readonly error: unknown;
  /** The delivery as a request, to be given to a receiver once more. */
  request(): Request;
}

/** Before everything is known of it. */
export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Request of an attempt. */
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
