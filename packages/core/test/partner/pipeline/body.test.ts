import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { rawGet, sendRaw } from '../../attacks/raw.ts';
import { partnerProvider, payment } from '../../support/partner-api.ts';
import { blamed } from '../refusal.ts';

const { provider, database } = await partnerProvider();
const { key } = await provider.key();
const get = (path: string) => sendRaw(provider.origin, rawGet(path, [`X-API-Key: ${key}`]));
const send = (body: unknown, headers?: Record<string, string>) =>
  provider.partnerCall(key, 'POST /v1/partner/payments', body, headers);

describe('a body', () => {
  it.each([
    ...['application/x-www-form-urlencoded', 'application/jsonp', 'json', 'application/json,text/plain'],
    'multipart/form-data; boundary=a',
  ])('of the type %s is 415', async (type) => {
    blamed(await send(payment, { 'content-type': type }), 415);
  });

  it.each(['APPLICATION/JSON', 'application/json; charset=utf-8', 'application/json;charset=UTF-8'])(
    'may be %s',
    async (type) => {
      expect((await send(payment, { 'content-type': type })).status).toBe(201);
    },
  );

  it('that is encoded is 415, even if its decoded form is valid', async () => {
    const zipped = gzipSync(JSON.stringify(payment));
    for (const encoding of ['gzip', 'deflate', 'br', 'x', 'gzip, identity'])
      expect.soft(blamed(await send(zipped, { 'content-encoding': encoding }), 415), encoding).toEqual([]);
    expect((await send(payment, { 'content-encoding': 'identity' })).status).toBe(201);
  });
});

describe('an address', () => {
  it.each([
    ...['/v1/partner', '/v1/partner/', '/v1/partner/x', '/v1/partner/payments/', '/V1/partner/payments'],
    ...['/v1/partner//payments', '/v1/partner/payments/tr_1/x', '/v1/partner/users/'],
    '/v1/partner/users/phone/',
  ])('%s leads nowhere', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    if (path.startsWith('/v1/')) expect(JSON.parse(body)).toMatchObject({ code: 'not_found' });
  });

  it.each([
    ...[
      '..',
      '../payments',
      '..%2f..%2fpayments',
      '%2e%2e',
      '%00',
      '%',
      '%zz',
      '%c0%ae',
      "x'--",
      '*',
      'kid-ana',
    ],
    ...['KID-ANA%00', '%E2%80%AEKID-ANA', 'KID-ANA%20', 'tr_%00', `tr_${'0'.repeat(31)}g`],
    ...['a'.repeat(10_000), `tr_${'A'.repeat(32)}`],
  ])('with the id %j is nobody and nothing', async (id) => {
    database.forget();
    for (const resource of [
      'users/',
      'payments/',
      'webhooks/',
      'webhooks/we_',
      `webhooks/we_${'0'.repeat(31)}`,
    ]) {
      const { status, body } = await get(`/v1/partner/${resource}${id}`);
      expect.soft([resource, status]).toEqual([resource, 404]);
      expect.soft(JSON.parse(body)).toMatchObject({ code: 'not_found' });
    }
    for (const call of database.calls)
      expect(['apiKeys.findByDigest', 'apiKeys.isLive', 'rateLimits.consume']).toContain(call);
  });

  it.each(['..', '%2e%2e', '%', '%zz', '%c0%ae', '5'.repeat(10_000), "x'--"])(
    'with the phone number %j says what one is',
    async (phone) => {
      const { status, body } = await get(`/v1/partner/users/phone/${phone}`);
      const details = [{ path: 'phone', message: expect.stringContaining('E.164') }];
      expect([status, JSON.parse(body)]).toMatchObject([400, { code: 'invalid_request', details }]);
    },
  );

  it('takes only its own methods', async () => {
    for (const [path, allowed, ...methods] of [
      ['payments', 'POST, GET, HEAD', 'PUT', 'PATCH', 'DELETE'],
      ['verify', 'POST', 'GET', 'HEAD', 'PUT'],
      ['users/KID-ANA', 'GET, HEAD', 'POST', 'DELETE'],
      ['reconciliation', 'GET, HEAD', 'POST'],
    ] as const)
      for (const method of methods) {
        const answer = await provider.partnerCall(key, `${method} /v1/partner/${path}`);
        expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allowed]);
        if (method !== 'HEAD') expect(blamed(answer, 405)).toEqual([]);
      }
    const head = await provider.partnerCall(key, 'HEAD /v1/partner/users/KID-ANA');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('answers no origin: there is no CORS', async () => {
    const origin = 'https://app.example';
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    const pay = '/v1/partner/payments';
    for (const { headers } of [
      await provider.partnerCall(null, `OPTIONS ${pay}`, undefined, { origin, ...preflight }),
      await provider.partnerCall(key, `GET ${pay}`, undefined, { origin }),
    ])
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});
