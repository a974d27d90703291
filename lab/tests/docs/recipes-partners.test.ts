import type { OstiaryPartner } from '@ostiary/client-sdk';
import { signWebhook } from '@ostiary/webhook-verifier';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newKit, partnerOf } from './support/reader.ts';
import { recipeFolder } from './support/recipe.ts';

const { recipe } = recipeFolder();

describe('recipes for partners', () => {
  it('pay from a job queue', async () => {
    const { payout } = await recipe<{
      payout(ostiary: OstiaryPartner, job: { id: string; kid: string; amount: string }): Promise<object>;
    }>('Pay from a job queue');
    const kit = await newKit();
    const partner = partnerOf(kit);
    const job = { id: 'job-1', kid: kit.user.kid, amount: '5.00' };
    const first = await payout(partner, job);
    expect(await payout(partner, job)).toEqual(first);
    await kit.clock.advance('25h');
    expect(await payout(partner, job)).toEqual(first);
    expect(kit.rail.journal).toHaveLength(1);
    expect(await payout(partner, { ...job, id: 'job-2', kid: 'NOBODY' })).toEqual({ refused: 'not_found' });
  });

  it('pay for an order, and find the payment of an earlier run', async () => {
    const { pay } = await recipe<{
      pay(ostiary: OstiaryPartner, orderId: string, kid: string): Promise<string | null>;
    }>('Errors, and what became of the call', { page: 'packages/client-sdk/README.md' });
    const kit = await newKit();
    const partner = partnerOf(kit);
    const first = await pay(partner, '1017', kit.user.kid);
    expect(await pay(partner, '1017', kit.user.kid)).toBe(first);
    await kit.clock.advance('25h');
    expect(await pay(partner, '1017', kit.user.kid)).toBe(first);
    expect(kit.rail.journal).toHaveLength(1);
    expect(await pay(partner, '1018', 'NOBODY')).toBeNull();
  });

  it('reconcile a day', async () => {
    const { reconcile } = await recipe<{
      reconcile(
        ostiary: OstiaryPartner,
        date: string,
        mine: ReadonlyMap<string, { amount: string; status: string }>,
      ): Promise<string[]>;
    }>('Reconcile a day');
    const kit = await newKit();
    const partner = partnerOf(kit);
    const date = kit.clock.date().toISOString().slice(0, 10);
    const order = { amount: '5.00', currency: 'HTG', recipient: { kid: kit.user.kid } } as const;
    for (const reference of ['a', 'b', 'c']) await partner.payments.create({ ...order, reference });
    await kit.settle();
    const booked = { amount: '5.00', status: 'completed' };
    const mine = new Map([
      ['a', booked],
      ['b', { ...booked, amount: '6.00' }],
      ['d', booked],
    ]);
    await expect(reconcile(partner, date, mine)).rejects.toThrow('not closed');
    await kit.clock.advance('2d');
    const differences = await reconcile(partner, date, mine);
    expect(differences.map((line) => line.replace(/^tr_\w+/, 'tr')).sort()).toEqual([
      'd is not in the export',
      'tr is completed, 5.00',
      'tr is not in our books',
    ]);
  });

  it('catch up after an outage', async () => {
    const { recover } = await recipe<{
      recover(ostiary: OstiaryPartner, endpoint: string, since: Date): Promise<void>;
    }>('Catch up after an outage');
    const { follow } = await recipe<{
      follow(
        ostiary: OstiaryPartner,
        seen: number,
        handle: (id: string, type: string) => Promise<void>,
      ): Promise<number>;
    }>('Catch up after an outage', { index: 1 });
    const kit = await newKit();
    const partner = partnerOf(kit);
    let status = 503;
    const receiver = () => new Response(null, { status });
    const since = kit.clock.date();
    const { id } = await kit.webhooks.register('https://shop.example/webhooks', { receiver });
    await partner.payments.create({ amount: '5.00', currency: 'HTG', recipient: { kid: kit.user.kid } });
    await kit.clock.advance('3h');
    expect(kit.inbox.deliveries.map((delivery) => delivery.status)).toEqual([503, 503, 503, 503, 503]);
    status = 200;
    await recover(partner, id, since);
    await kit.settle();
    expect(kit.inbox.deliveries.at(-1)?.status).toBe(200);
    const seen: string[] = [];
    const last = await follow(partner, 0, async (_id, type) => void seen.push(type));
    expect([last, seen]).toEqual([1, ['payment.completed']]);
  });

  it('staging and production', async () => {
    process.env.WEBHOOK_SECRET = 'the secret of staging';
    const told = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => told.mockRestore());
    const { staging } = await recipe<{ staging(request: Request): Promise<Response> }>(
      'Staging and production',
    );
    const send = async (mode: 'live' | 'test') => {
      const event = {
        id: `evt_${mode}`,
        type: 'webhook.test',
        createdAt: new Date().toISOString(),
        mode,
        data: {},
      };
      const { headers, body } = await signWebhook(JSON.stringify(event), {
        secret: 'the secret of staging',
        id: event.id,
        type: event.type,
        timestamp: Math.floor(Date.now() / 1000),
        partner: 'acme',
      });
      return (
        await staging(new Request('https://staging.example/webhooks', { method: 'POST', headers, body }))
      ).status;
    };
    expect([await send('test'), await send('live')]).toEqual([200, 500]);
    expect(told).toHaveBeenCalledOnce();
  });

  it('receive webhooks in Lambda, behind API Gateway', async () => {
    vi.stubEnv('WEBHOOK_SECRET', 'the secret of this test');
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.spyOn(console, 'log').mockReturnValue();
    type GatewayAnswer = { statusCode: number; body: string };
    type Given = APIGatewayProxyEvent | APIGatewayProxyEventV2;
    const { handler } = await recipe<{ handler(event: Given): Promise<GatewayAnswer> }>(
      'Webhooks in Lambda, behind API Gateway',
    );
    const kit = await newKit();
    /**
     * Statuses that the recipe's handler returned. The handler gets each delivery six times: with the body as
     * text and as Base64, each as an event of both AWS versions and once with a changed body.
     */
    const statuses: number[] = [];
    const receiver = async (request: Request) => {
      const text = await request.text();
      const headers = Object.fromEntries(request.headers);
      for (const isBase64Encoded of [false, true]) {
        const body = isBase64Encoded ? Buffer.from(text).toString('base64') : text;
        const common = { body, headers, isBase64Encoded };
        const first = { ...common, httpMethod: 'POST', path: '/webhooks', multiValueHeaders: {} };
        const second = { ...common, version: '2.0', rawPath: '/webhooks', routeKey: '$default' };
        for (const event of [first, second]) statuses.push((await handler(event as never)).statusCode);
        const changed = await handler({ ...second, body: `${body}AAAA` } as never);
        statuses.push(changed.statusCode);
      }
      return new Response(null, { status: 200 });
    };
    await kit.webhooks.register('https://shop.example/webhooks', {
      receiver,
      secret: 'the secret of this test',
    });
    await partnerOf(kit).payments.create({
      amount: '5.00',
      currency: 'HTG',
      recipient: { kid: kit.user.kid },
    });
    await kit.settle();
    expect(statuses).toEqual([200, 200, 400, 200, 200, 400]);
  });
});
