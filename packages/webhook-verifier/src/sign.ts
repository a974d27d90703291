import { sign } from '#platform';
import { bytesOf, type RawBody } from './body.ts';
import { headerNames } from './headers.ts';
import { requireStrong } from './secrets.ts';

/** Secret of a webhook, and everything that its headers contain. */
export interface SignOptions {
  readonly secret: string;
  /** Id of the event: the `id` of the body, such as `evt_…`. */
  readonly id: string;
  /** Type of the event: the `type` of the body. */
  readonly type: string;
  /** Time of the signature, in whole Unix seconds. */
  readonly timestamp: number;
  /** Slug (short name) of the partner who gets the webhook. */
  readonly partner: string;
  /**
   * Number of the attempt, from 1 to 9,999.
   * @defaultValue 1
   */
  readonly attempt?: number | undefined;
  /**
   * Prefix of the installation in header names.
   * @defaultValue `'svc'`
   */
  readonly prefix?: string | undefined;
}

/** A signed webhook attempt, ready to be posted. */
export interface SignedDelivery {
  /** All headers of the delivery, including `Content-Type`. */
  readonly headers: { readonly [name: string]: string };
  /** Bytes of the webhook's body. Bytes that were passed in are not copied; a string is encoded as UTF-8. */
  // The same type as `Uint8Array<ArrayBuffer>`, which TypeScript before 5.7 cannot parse.
  readonly body: ReturnType<TextEncoder['encode']>;
}

/**
 * Signs one attempt of a webhook, as Ostiary does: the signature is HMAC-SHA256 of `timestamp + "." + body`
 * under the secret's UTF-8 bytes, in lower-case hexadecimal.
 *
 * @throws WebhookVerificationError `weak_secret`, `body_missing`, `body_already_parsed`, `body_not_utf8`
 * @throws TypeError for a wrong timestamp, attempt or prefix
 * @example
 * ```ts
 * const event = { id: 'evt_1', type: 'webhook.test', createdAt: '2026-01-01T00:00:00.000Z', mode: 'test', data: { message: 'Hello' } };
 * const timestamp = Math.floor(Date.now() / 1000);
 * const { headers, body } = await signWebhook(JSON.stringify(event), { secret, id: event.id, type: event.type, timestamp, partner: 'acme' });
 * await fetch('http://localhost:3000/webhooks', { method: 'POST', headers, body });
 * ```
 */
export async function signWebhook(
  body: RawBody,
  { secret, id, type, timestamp, partner, attempt = 1, prefix }: SignOptions,
): Promise<SignedDelivery> {
  requireStrong(secret);
  if (!Number.isSafeInteger(timestamp) || timestamp <= 0 || timestamp > 999_999_999_999) {
    throw new TypeError('timestamp must be whole seconds since the Unix epoch');
  }
  if (!Number.isSafeInteger(attempt) || attempt < 1 || attempt > 9999) {
    throw new TypeError('attempt must be a whole number from 1');
  }
  const bytes = bytesOf(body);
  const seconds = `${timestamp}`;
  const signature = await sign(secret, seconds, bytes);
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  const values = [type, id, seconds, signature, partner, `${attempt}`];
  const { shown } = headerNames(prefix);
  for (let index = 0; index < shown.length; index += 1)
    headers[shown[index] as string] = values[index] as string;
  return { headers, body: bytes };
}
