import { OstiaryPartner } from '@ostiary/client-sdk';
import { verify } from '@ostiary/webhook-verifier';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestOstiary } from '../../src/index.ts';
import { newKit } from './support.ts';

/** The SDK on a kit, which pauses by the clock of the kit. */
const sdk = (kit: TestOstiary, options: Partial<ConstructorParameters<typeof OstiaryPartner>[0]> = {}) =>
  new OstiaryPartner({
    apiKey: kit.keys.live.key,
    baseUrl: kit.baseUrl,
    fetch: kit.fetch,
    now: kit.clock.now,
    sleep: kit.clock.advance,
    ...options,
  });

const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-0001' } } as const;

describe('the client SDK on a kit', () => {
  it('pays, is told by webhook, and finds the transfer', async () => {
    const kit = await newKit();
    const partner = sdk(kit);
    await partner.webhooks.create({
      url: 'https://shop.example/hooks',
      events: ['*'],
      secret: kit.webhookSecret,
    });
    const { id } = await partner.payments.create(payment);
    const { body, headers } = await kit.inbox.next('payment.completed');
    const { event } = await verify(body, headers, { secret: kit.webhookSecret });
    expect(event.data).toMatchObject({ id, amount: '125.00' });
    expect((await partner.payments.retrieve(id)).status).toBe('completed');
    const { token } = await kit.passports.issue();
    expect((await partner.passports.verify({ token })).user.kid).toBe(kit.user.kid);
  });

  it('never pays twice, whatever the network does', async () => {
    const kit = await newKit({ partnerLimits: { payments: { requests: 1_000_000, windowSeconds: 1 } } });
    const partner = sdk(kit, { maxRetries: 4 });
    const faults = ['refuse', 'dropAnswerAfterCommit', 'rateLimit', 'status', 'none'] as const;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...faults), { maxLength: 8 }), async (schedule) => {
        kit.faults.clear();
        for (const fault of schedule) {
          if (fault === 'status') kit.faults.status(502, '<h1>Bad Gateway</h1>');
          else if (fault !== 'none') kit.faults[fault]();
        }
        count += 1;
        const reference = `order-${count}`;
        const result = await partner.payments.create({ ...payment, reference }).then(
          ({ id }) => ({ id, outcome: 'executed' }),
          ({ outcome }: { outcome: string }) => ({ id: null, outcome }),
        );
        await kit.settle();
        const paid = kit.rail.journal.filter((entry) => entry.reference === reference);
        expect(paid.length).toBeLessThanOrEqual(1);
        if (result.id !== null) expect(paid.map(({ transferId }) => transferId)).toEqual([result.id]);
        if (result.outcome === 'not_executed') expect(paid).toEqual([]);
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});
