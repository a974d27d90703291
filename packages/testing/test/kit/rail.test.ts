import { describe, expect, it } from 'vitest';
import { call, newKit, pay } from './support.ts';

describe('the rail of a kit', () => {
  it('completes what it is asked for, and writes it down once', async () => {
    const kit = await newKit();
    const { json } = await pay(kit, { reference: 'order-1' });
    expect(json.status).toBe('pending');
    await kit.settle();
    expect((await call(kit, `GET /v1/partner/payments/${json.id}`)).json.status).toBe('completed');
    expect(kit.rail.journal).toEqual([
      {
        transferId: json.id,
        partner: kit.partner,
        amount: '125.00',
        currency: 'HTG',
        recipientKid: kit.user.kid,
        reference: 'order-1',
        status: 'completed',
        asked: 1,
      },
    ]);
  });

  it('fails on demand, those that match', async () => {
    const kit = await newKit();
    await kit.webhooks.register('https://shop.example/hooks');
    kit.rail.fail({ code: 'insufficient_funds', message: 'Empty.', match: ({ amount }) => amount > 10_000n });
    await pay(kit, { amount: '1.00' });
    await pay(kit, { amount: '101.00' });
    const { event } = await kit.inbox.next('payment.failed');
    expect(event.data).toMatchObject({
      amount: '101.00',
      status: 'failed',
      failure: { code: 'insufficient_funds', message: 'Empty.' },
    });
    expect(kit.rail.journal.map(({ status }) => status)).toEqual(['completed', 'failed']);
  });

  it('holds transfers until it completes or declines them', async () => {
    const kit = await newKit();
    kit.rail.hold({ times: 2 });
    const ids = [(await pay(kit)).json.id, (await pay(kit)).json.id].map(String);
    const statuses = () =>
      Promise.all(ids.map(async (id) => (await call(kit, `GET /v1/partner/payments/${id}`)).json.status));
    await expect(kit.rail.complete(ids[0] ?? '')).rejects.toThrow('does not hold');
    await kit.clock.advance('1d');
    expect(await statuses()).toEqual(['pending', 'pending']);
    await kit.rail.complete(ids[0] ?? '');
    await kit.rail.decline(ids[1] ?? '', { code: 'refused' });
    expect(await statuses()).toEqual(['completed', 'failed']);
    expect(kit.rail.journal.map(({ status }) => status)).toEqual(['completed', 'failed']);
    await expect(kit.rail.complete(ids[0] ?? '')).rejects.toThrow('does not hold');
  });

  it('that breaks down is asked again, for the same transfer', async () => {
    const kit = await newKit();
    kit.rail.breakDown({ times: 3 });
    const { json } = await pay(kit);
    await kit.settle();
    expect(kit.rail.journal).toMatchObject([{ status: 'unknown', asked: 1 }]);
    await kit.clock.advance('1m');
    expect(kit.rail.journal).toMatchObject([{ transferId: json.id, status: 'completed', asked: 4 }]);
  });
});
