import type { IncomingHttpHeaders } from 'node:http';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type EventOf,
  type KycChange,
  safeVerify,
  type Transfer,
  type VerifiedDelivery,
  verify,
  type WebhookErrorCode,
  type WebhookEvent,
  type WebhookHeaders,
} from '../src/index.ts';

/** Test that only the type checker reads; it is never run. */
async function narrowing(): Promise<void> {
  const delivery = await verify('', {}, { secret: process.env.SECRET });
  expectTypeOf(delivery.event.data).not.toBeAny();
  // Narrow the event by the delivery's type.
  if (delivery.type === 'payment.completed') {
    expectTypeOf(delivery.event.data).toExtend<Transfer>();
    expectTypeOf(delivery.event.data.completedAt).toEqualTypeOf<string>();
  }
  // Some senders leave out the number of the attempt.
  expectTypeOf(delivery.attempt).toEqualTypeOf<number | null>();
  // Narrow the event by its own type.
  const { event } = delivery;
  if (event.type === 'payment.failed') expectTypeOf(event.data.failure.code).toEqualTypeOf<string>();
  if (event.type === 'kyc.updated') expectTypeOf(event.data).toEqualTypeOf<KycChange>();
  if (event.type === 'webhook.test') expectTypeOf(event.data.message).toEqualTypeOf<string>();
  expectTypeOf<'payment.complete'>().not.toExtend<WebhookEvent['type']>();

  type Own = EventOf<'order.shipped', { readonly carrier: string }>;
  const own = await verify<WebhookEvent<Own>>('', {}, { secrets: [''] });
  if (own.type === 'order.shipped') expectTypeOf(own.event.data.carrier).toEqualTypeOf<string>();
  if (own.type === 'kyc.updated') expectTypeOf(own.event.data.kycTier).toEqualTypeOf<0 | 1 | 2 | 3>();

  const result = await safeVerify('', {}, { secret: '' });
  if (result.ok) expectTypeOf(result.delivery).toEqualTypeOf<VerifiedDelivery>();
  else expectTypeOf(result.error.code).toEqualTypeOf<WebhookErrorCode>();
  // A parsed body has lost the signed bytes, so it is not accepted.
  expectTypeOf<{ id: string }>().not.toExtend<Parameters<typeof verify>[0]>();
  expectTypeOf<string>().toExtend<Parameters<typeof verify>[0]>();
  expectTypeOf<'300'>().not.toExtend<Parameters<typeof verify>[2]['tolerance']>();
  expectTypeOf<300>().toExtend<Parameters<typeof verify>[2]['tolerance']>();
}

describe('types', () => {
  it('take the headers of Node and of Fetch', () => {
    expectTypeOf(narrowing).toBeFunction();
    expectTypeOf<IncomingHttpHeaders>().toExtend<WebhookHeaders>();
    expectTypeOf<Headers>().toExtend<WebhookHeaders>();
    expectTypeOf<{ [name: string]: string }>().toExtend<WebhookHeaders>();
  });
});
