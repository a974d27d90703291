import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import type { TestOstiary } from '../../src/index.ts';
import { call, type Json, newKit, pay } from './support.ts';

const url = 'https://shop.example/hooks';

/** Makes a webhook receiver as partners write it, which records the accepted events. */
function shop(kit: TestOstiary) {
  const accepted: string[] = [];
  const receiver = async (request: Request): Promise<Response> => {
    const body = new Uint8Array(await request.arrayBuffer());
    const { id, event } = await verify(body, request.headers, {
      secret: kit.webhookSecret,
      now: kit.clock.now,
    });
    accepted.push(`${id} ${event.type}`);
    return new Response(null, { status: 204 });
  };
  return { accepted, receiver };
}

const logOf = async (kit: TestOstiary, endpointId: string): Promise<Json[]> => {
  const { json } = await call(kit, `GET /v1/partner/webhooks/${endpointId}/deliveries`);
  return (json.data as { attempts: Json[] }[]).flatMap(({ attempts }) => attempts);
};

describe('the inbox', () => {
  it('has deliveries that the verifier accepts', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    const { json } = await pay(kit);
    const { body, headers, event, id, type, sentAt, status } = await kit.inbox.next('payment.completed');
    const verified = await verify(body, headers, { secret: kit.webhookSecret });
    expect(verified.event).toEqual(event);
    expect([verified.id, type, sentAt, status]).toEqual([id, 'payment.completed', kit.clock.now(), 200]);
    expect(event.data).toMatchObject({ id: json.id, status: 'completed' });
    expect(headers.get('x-svc-partner')).toBe(kit.partner);
    await expect(verify(body, headers, { secret: 'another secret, long enough' })).rejects.toThrow();
  });

  it('signs with the prefix and the secret of the endpoint', async () => {
    const kit = await newKit({ prefix: 'acme' });
    const { secret } = await kit.webhooks.register(url, { secret: 'a secret of the shop itself' });
    await pay(kit);
    const { body, headers } = await kit.inbox.next();
    expect((await verify(body, headers, { secret, prefix: 'acme' })).event.type).toBe('payment.completed');
  });

  it('notifies a partner with the consent of a user of a change of the identity check', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    await kit.users.update(kit.user, { kycTier: 3 });
    await kit.settle();
    expect(kit.inbox.deliveries).toEqual([]);
    await kit.accessToken(kit.clients.web, { scopes: ['openid', 'kyc'] });
    await kit.users.update(kit.user, { kycStatus: 'rejected', kycTier: 0 });
    expect((await kit.inbox.next('kyc.updated')).event.data).toMatchObject({
      kid: kit.user.kid,
      kycStatus: 'rejected',
      previous: { kycStatus: 'approved', kycTier: 3 },
    });
    await kit.users.update(kit.user, { name: 'Another Name' });
    await kit.settle();
    expect(kit.inbox.deliveries).toHaveLength(1);
  });

  it('answers each delivery once, and waits for requests under way', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    const next = kit.inbox.next('payment.completed');
    await pay(kit, { amount: '1.00' });
    await pay(kit, { amount: '2.00' });
    expect((await next).event.data.amount).toBe('1.00');
    expect((await kit.inbox.next()).event.data.amount).toBe('2.00');
    kit.inbox.clear();
    expect(kit.inbox.deliveries).toEqual([]);
  });

  it('says what arrived instead of what was waited for', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    await pay(kit);
    await expect(kit.inbox.next('kyc.updated', { timeoutMs: 10 })).rejects.toThrow(
      /^no delivery of kyc\.updated arrived; so far: payment\.completed \(200\)\./,
    );
  });
});

describe('an endpoint', () => {
  it('must be one that the service accepts', async () => {
    const kit = await newKit();
    for (const wrong of ['http://shop.example/', 'https://127.0.0.1/', 'https://user@shop.example/']) {
      await expect(kit.webhooks.register(wrong)).rejects.toThrow('invalid_request');
    }
  });

  it('verifies retries of hours later, when it asks the clock of the kit', async () => {
    const kit = await newKit();
    const { accepted, receiver } = shop(kit);
    let tries = 0;
    await kit.webhooks.register(url, {
      receiver: (request) => {
        tries += 1;
        return tries < 5 ? new Response(null, { status: 503 }) : receiver(request);
      },
    });
    await pay(kit);
    await kit.clock.advance('3h');
    expect(accepted).toHaveLength(1);
    const [first] = kit.inbox.deliveries;
    // The bytes are the same, but the signatures differ.
    expect(new Set(kit.inbox.deliveries.map(({ body }) => Buffer.from(body).toString())).size).toBe(1);
    expect(new Set(kit.inbox.deliveries.map(({ headers }) => headers.get('x-svc-signature'))).size).toBe(5);
    const late = verify(first?.body ?? '', first?.headers ?? {}, {
      secret: kit.webhookSecret,
      now: kit.clock.now,
    });
    await expect(late).rejects.toThrow(expect.objectContaining({ code: 'timestamp_too_old' }));
  });

  it('whose code throws has failed, and the test can see why', async () => {
    const kit = await newKit();
    const { id } = await kit.webhooks.register(url, {
      receiver: () => {
        throw new RangeError('a defect of the shop');
      },
    });
    await pay(kit);
    const { status, error } = await kit.inbox.next();
    expect([status, error]).toEqual([null, new RangeError('a defect of the shop')]);
    expect(await logOf(kit, id)).toMatchObject([{ httpStatus: 500, error: 'status' }]);
  });

  it('has its response cut to as many bytes as the service keeps', async () => {
    const kit = await newKit();
    const receiver = () => new Response(`\0${'\u00e9'.repeat(10_000)}`);
    const { id } = await kit.webhooks.register(url, { receiver });
    await pay(kit);
    await kit.settle();
    const [attempt] = await logOf(kit, id);
    // The last character is cut in half.
    expect(attempt?.response).toBe(`\ufffd${'\u00e9'.repeat(8_191)}\ufffd`);
  });

  it('is found by the longest URL, also by requests that are not deliveries', async () => {
    const kit = await newKit();
    kit.webhooks.receive('https://shop.example', () => new Response('shop'));
    kit.webhooks.receive('https://shop.example/a', (request) => new Response(`a ${request.method}`));
    const textOf = async (address: string) => (await kit.fetch(address, { method: 'PUT' })).text();
    expect(await textOf('https://shop.example/')).toBe('shop');
    expect(await textOf('https://shop.example/ab')).toBe('shop');
    expect(await textOf('https://shop.example/a')).toBe('a PUT');
    expect(await textOf('https://shop.example/a?b')).toBe('a PUT');
    expect(await textOf('https://shop.example/a/b')).toBe('a PUT');
    await expect(kit.fetch('https://shop.example.evil/')).rejects.toThrow('fetch failed');
  });
});

describe('a fault of deliveries', () => {
  it('may bring one twice', async () => {
    const kit = await newKit();
    const { accepted, receiver } = shop(kit);
    const { id } = await kit.webhooks.register(url, { receiver });
    kit.faults.webhooks.duplicate();
    await pay(kit);
    await kit.settle();
    expect(accepted).toHaveLength(2);
    expect(new Set(accepted).size).toBe(1);
    const [first, second] = kit.inbox.deliveries;
    expect(second?.body).toEqual(first?.body);
    expect([...(second?.headers ?? [])]).toEqual([...(first?.headers ?? [])]);
    expect(await logOf(kit, id)).toHaveLength(1);
  });

  it('may bring two in the other order', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    kit.faults.webhooks.reorder();
    // A single request cannot be reordered.
    await pay(kit, { amount: '1.00' });
    await kit.settle();
    expect(kit.faults.unused).toHaveLength(1);
    await pay(kit, { amount: '2.00' });
    await pay(kit, { amount: '3.00' });
    await kit.settle();
    expect(kit.inbox.deliveries.map(({ event }) => event.data.amount)).toEqual(['1.00', '3.00', '2.00']);
    kit.faults.assertUsed();
  });

  it('may lose one, which comes again a minute later', async () => {
    const kit = await newKit();
    const { id } = await kit.webhooks.register(url);
    kit.faults.webhooks.drop({ match: 'payment.completed' });
    await pay(kit);
    await kit.settle();
    expect(kit.inbox.deliveries).toEqual([]);
    await kit.clock.advance('1m');
    expect(kit.inbox.deliveries).toMatchObject([{ status: 200 }]);
    expect(await logOf(kit, id)).toMatchObject([
      { number: 1, error: 'connection_reset', httpStatus: null },
      { number: 2, error: null, httpStatus: 200 },
    ]);
  });

  it('may answer before the partner, or forget what the partner answered', async () => {
    const kit = await newKit();
    const { accepted, receiver } = shop(kit);
    const { id } = await kit.webhooks.register(url, { receiver });
    kit.faults.webhooks.status(502);
    kit.faults.webhooks.timeOut({ match: ({ headers }) => headers.get('x-svc-attempt') === '2' });
    await pay(kit);
    await kit.settle();
    expect(accepted).toEqual([]);
    await kit.clock.advance('1m');
    expect(accepted).toHaveLength(1);
    await kit.clock.advance('5m');
    expect(accepted).toHaveLength(2);
    expect(new Set(accepted).size).toBe(1);
    expect((await logOf(kit, id)).map(({ error }) => error)).toEqual(['status', 'timeout', null]);
  });

  it('whose function throws is seen at the delivery', async () => {
    const kit = await newKit();
    await kit.webhooks.register(url);
    const match = () => {
      throw new RangeError('a defect of the test');
    };
    kit.faults.webhooks.drop({ match });
    await pay(kit);
    expect((await kit.inbox.next()).error).toEqual(new RangeError('a defect of the test'));
  });
});
