import { describe, expect, it } from 'vitest';
import { call, newKit, pay } from './support.ts';

/** Error that `fetch` throws when a connection breaks. */
const reset = expect.objectContaining({
  name: 'TypeError',
  message: 'fetch failed',
  cause: expect.objectContaining({ code: 'ECONNRESET' }),
});

it('a dropped answer was executed, and is one transfer with the retry under the same Idempotency-Key', async () => {
  const kit = await newKit();
  kit.faults.dropAnswerAfterCommit({ match: 'POST /v1/partner/payments' });
  const send = () => pay(kit, {}, { 'idempotency-key': 'order-1' });
  await expect(send()).rejects.toThrow(reset);
  const retried = await send();
  expect(retried.status).toBe(201);
  expect(retried.headers.get('idempotent-replayed')).toBe('true');
  await kit.settle();
  expect(kit.rail.journal).toMatchObject([{ transferId: retried.json.id, status: 'completed', asked: 1 }]);
  kit.faults.assertUsed();
});

it('a request that is refused was not executed', async () => {
  const kit = await newKit();
  kit.faults.refuse({ times: 2 });
  await expect(pay(kit)).rejects.toThrow(reset);
  await expect(pay(kit)).rejects.toThrow(reset);
  expect((await call(kit, 'GET /v1/partner/payments')).json).toMatchObject({ data: [] });
});

describe('an answer that is not the service’s', () => {
  it('may be a 429 in its words', async () => {
    const kit = await newKit();
    kit.faults.rateLimit({ retryAfterSeconds: 7 });
    const answer = await pay(kit);
    expect([answer.status, answer.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'));
    expect((await call(kit, 'GET /v1/partner/payments')).json).toMatchObject({ data: [] });
  });

  it('may be the page of a proxy, or nothing at all', async () => {
    const kit = await newKit();
    kit.faults.status(502, '<h1>Bad Gateway</h1>');
    kit.faults.status(503, '', { headers: { 'retry-after': '3' } });
    const get = () => kit.fetch(`${kit.baseUrl}/v1/partner/whoami`);
    const page = await get();
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      502,
      'text/html',
      '<h1>Bad Gateway</h1>',
    ]);
    const empty = await get();
    expect([empty.status, empty.headers.get('retry-after'), await empty.text()]).toEqual([503, '3', '']);
  });
});

describe('a slow answer', () => {
  it('comes when the test moves the clock, and was executed before', async () => {
    const kit = await newKit();
    kit.faults.slow('2s');
    let answered = false;
    const answer = pay(kit).then((value) => {
      answered = true;
      return value;
    });
    await kit.clock.advance(1_999);
    // The transfer already exists at this point.
    expect((await call(kit, 'GET /v1/partner/payments')).json.data).toHaveLength(1);
    expect(answered).toBe(false);
    await kit.clock.advance(1);
    expect((await answer).status).toBe(201);
  });

  it('outlasts a time-out of the client, which runs by the real clock', async () => {
    const kit = await newKit();
    kit.faults.slow('1h', { times: 2 });
    const signal = AbortSignal.timeout(20);
    await expect(call(kit, 'GET /v1/partner/whoami', undefined, { signal })).rejects.toThrow(
      expect.objectContaining({ name: 'TimeoutError' }),
    );
    const control = new AbortController();
    const waiting = call(kit, 'GET /v1/partner/whoami', undefined, { signal: control.signal });
    setImmediate(() => control.abort(new RangeError('enough')));
    await expect(waiting).rejects.toThrow(RangeError);
    kit.faults.assertUsed();
  });

  it('may come by the real clock', async () => {
    const kit = await newKit();
    kit.faults.slow('30ms', { clock: 'real', times: 2 });
    const before = performance.now();
    expect((await call(kit, 'GET /v1/partner/whoami')).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThan(25);
    await expect(
      call(kit, 'GET /v1/partner/whoami', undefined, { signal: AbortSignal.abort(new RangeError('enough')) }),
    ).rejects.toThrow(RangeError);
    expect(kit.faults.unused).toEqual(['faults.slow: 1 of 2 times']);
  });

  it('may stop in the middle of its body', async () => {
    const kit = await newKit();
    kit.faults.stallBody();
    const control = new AbortController();
    const response = await kit.fetch(`${kit.baseUrl}/v1/openapi.json`, { signal: control.signal });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(100);
    const rest = reader?.read();
    control.abort(new RangeError('enough'));
    await expect(rest).rejects.toThrow(RangeError);
  });
});

describe('a fault', () => {
  it.each([
    ['a path', '/v1/partner/whoami'],
    ['a method and a path', 'GET /v1/partner/whoami'],
    ['a pattern', /^GET .*whoami$/],
    ['a function', ({ url }: Request) => url.endsWith('/whoami')],
  ])('meets what %s names', async (_name, match) => {
    const kit = await newKit();
    kit.faults.status(418, '', { match });
    expect((await pay(kit)).status).toBe(201);
    expect((await call(kit, 'POST /v1/partner/webhooks', {})).status).toBe(400);
    expect((await call(kit, 'GET /v1/partner/whoami')).status).toBe(418);
    expect((await call(kit, 'GET /v1/partner/whoami')).status).toBe(200);
  });

  it('meets in the order in which it was asked for', async () => {
    const kit = await newKit();
    kit.faults.status(418, '', { times: 2 });
    kit.faults.status(451);
    const statusOf = async () => (await call(kit, 'GET /v1/partner/whoami')).status;
    expect([await statusOf(), await statusOf(), await statusOf(), await statusOf()]).toEqual([
      418, 418, 451, 200,
    ]);
  });

  it('that was not used is reported, and can be removed', async () => {
    const kit = await newKit();
    kit.faults.refuse({ times: 2, match: '/v1/partner/whoami' });
    kit.faults.slow('1s', { times: Number.POSITIVE_INFINITY, match: '/v1/partner/payments' });
    kit.faults.webhooks.drop({ match: 'kyc.updated' });
    kit.rail.fail();
    await expect(call(kit, 'GET /v1/partner/whoami')).rejects.toThrow(reset);
    expect(() => kit.faults.assertUsed()).toThrow(
      'faults that were not used: faults.refuse: 1 of 2 times; faults.slow: 0 of Infinity times; ' +
        'faults.webhooks.drop: 0 of 1 times; rail.fail: 0 of 1 times',
    );
    kit.faults.clear();
    kit.faults.assertUsed();
    expect((await call(kit, 'GET /v1/partner/whoami')).status).toBe(200);
  });

  it('that is to be met always was used when it was met once', async () => {
    const kit = await newKit();
    kit.faults.status(418, '', { times: Number.POSITIVE_INFINITY });
    for (let round = 0; round < 3; round += 1) {
      expect((await kit.fetch(`${kit.baseUrl}/v1/partner/whoami`)).status).toBe(418);
    }
    kit.faults.assertUsed();
  });

  it.each([0, -1, 1.5, Number.NaN])('cannot be met %d times', async (times) => {
    const kit = await newKit();
    expect(() => kit.faults.refuse({ times })).toThrow(TypeError);
  });

  it('does not meet what the kit does itself', async () => {
    const kit = await newKit();
    kit.faults.refuse({ times: Number.POSITIVE_INFINITY });
    expect(await kit.accessToken(kit.clients.web)).toMatch(/^svc_at_/);
    await kit.webhooks.register('https://shop.example/hooks');
    expect(kit.faults.unused).toHaveLength(1);
  });
});
