import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { blamed } from '../partner/refusal.ts';
import { payment } from '../support/partner-api.ts';
import { webhookProvider } from '../webhooks/support/webhook-provider.ts';

const hostType = {
  schema: z.object({ orderId: z.string(), at: z.iso.datetime() }),
  example: { orderId: 'o', at: '2026-01-01T00:00:00Z' },
};

const { provider } = await webhookProvider({ events: { 'order.shipped': hostType } });
const key = await provider.key({ mode: 'test' });

// That no refusal has the words of a library in it is checked of every one that the tests of the partner API get.
describe('what the partner API says of a wrong field', () => {
  it.each([
    ['POST /v1/partner/payments', {}, / at amount: is missing$/],
    ['POST /v1/partner/payments', [], /: has to be an object$/],
    ['POST /v1/partner/payments', 'no JSON', /^The body is not valid JSON\.$/],
    ['GET /v1/partner/users/phone/50937000001', undefined, / at phone: .*E\.164/],
  ])('is in the message too, for those who read no details: %s %j', async (target, body, message) => {
    expect((await provider.partnerCall(key, target, body)).json().message).toMatch(message);
  });

  it('reads well behind the name of the field', async () => {
    const pay = 'POST /v1/partner/payments';
    const trigger = 'POST /v1/partner/sandbox/events';
    const redeliver = `POST /v1/partner/events/evt_${'0'.repeat(32)}/redeliver`;
    for (const [target, body, line] of [
      [pay, { ...payment, amount: undefined }, 'amount is missing'],
      [pay, { ...payment, amount: 125 }, 'amount has to be a string'],
      [pay, { ...payment, currency: 'EUR' }, 'currency has to be one of HTG, USD'],
      [pay, { ...payment, description: '' }, 'description is empty'],
      [pay, { ...payment, description: 'd'.repeat(141) }, 'description has to have at most 140 characters'],
      [pay, { ...payment, metadata: { a: 1 } }, 'metadata.a has to be a string'],
      [pay, { ...payment, metadata: { '': 'x' } }, 'metadata. its name is empty'],
      [pay, { ...payment, metadata: [] }, 'metadata has to be an object'],
      [pay, { ...payment, tip: '1.00' }, 'tip is not a known field'],
      ['POST /v1/partner/sandbox/passports', { expired: 'yes' }, 'expired has to be true or false'],
      // Also where a library of the host's checks.
      [
        trigger,
        { type: 'order.shipped', data: { orderId: 7, at: hostType.example.at } },
        'data.orderId is not what order.shipped carries there',
      ],
      [redeliver, { endpointId: 'x' }, 'endpointId has to be the id of a webhook endpoint, we_…'],
      [
        'GET /v1/partner/payments?createdFrom=yesterday',
        undefined,
        'createdFrom has to be a time in UTC such as 2026-01-31T12:00:00Z',
      ],
    ] as const) {
      const answer = await provider.partnerCall(key, target, body);
      blamed(answer);
      const details = answer.json().details as { path: string; message: string }[];
      expect(details.map(({ path, message }) => `${path} ${message}`)).toEqual([line]);
    }
  });
});
