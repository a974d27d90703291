import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseAnswer, RawConnection, rawGet, rawPost, sendRaw } from '../../attacks/raw.ts';
import { partnerProvider } from '../../support/partner-api.ts';

const { provider } = await partnerProvider();
const { key } = await provider.key();
const open = async (...lines: readonly string[]) => {
  const connection = await RawConnection.open(provider.origin);
  connection.write([...lines, 'Host: a', '', ''].join('\r\n'));
  return connection;
};

describe('checks come in the documented order', () => {
  it('each one before the next', async () => {
    const { provider } = await partnerProvider({
      partnerLimits: { payments: { requests: 1, windowSeconds: 60 } },
    });
    const partner = await provider.partner();
    const elsewhere = await provider.key({ partner, allowlist: ['192.0.2.1'], scopes: ['webhooks'] });
    const powerless = await provider.key({ partner, scopes: ['webhooks'] });
    const signing = await provider.key({ partner, requireSignature: true });
    const long = 'x'.repeat(64 * 1024 + 1);
    const wrongType = { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'idempotency-key': '""' };
    const signed = () => ({
      'x-svc-timestamp': String(provider.clock.now()),
      'x-svc-signature': createHmac('sha256', signing.signingSecret).update('{').digest('hex'),
    });
    const pay = '/v1/partner/payments';
    // The error of the earliest stage wins, although later stages would fail, too.
    for (const [outcome, key, path, body, headers] of [
      ['413 invalid_request', null, '/v1/partner/nothing', long],
      ['413 invalid_request', null, '/v1/partner', long],
      ['404 not_found', null, '/v1/partner/nothing', '{'],
      ['405 invalid_request', null, '/v1/partner/users/x', '{'],
      ['401 invalid_api_key', null, pay, '{'],
      ['403 ip_not_allowed', elsewhere, pay, '{'],
      ['403 insufficient_scope', powerless, pay, '{'],
      ['401 invalid_signature', signing, pay, '{', wrongType],
      ['429 rate_limit_exceeded', signing, pay, '{', wrongType],
    ] as const)
      expect((await provider.partnerCall(key, `POST ${path}`, body, headers)).outcome).toBe(outcome);
    const signedCall = (headers: object) => {
      provider.clock.advance(60_000);
      return provider.partnerCall(signing, `POST ${pay}`, '{', { ...signed(), ...headers });
    };
    expect((await signedCall(wrongType)).status).toBe(415);
    const malformed = await signedCall({ 'idempotency-key': '""' });
    // The body's error comes first: the key was not checked yet.
    expect([malformed.status, malformed.json().details]).toEqual([400, undefined]);
  });

  it('of a body nothing is read before the key is known: its head alone gets the answer', async () => {
    const { key: powerless } = await provider.key({ scopes: ['webhooks'] });
    const post = (path: string) => `POST /v1/partner/${path} HTTP/1.1`;
    for (const [status, ...head] of [
      [401, post('payments'), 'Content-Length: 60000'],
      [401, post('payments'), 'Transfer-Encoding: chunked'],
      [403, post('payments'), 'Content-Length: 60000', `X-API-Key: ${powerless}`],
      [404, post('nothing'), 'Content-Length: 60000'],
      [405, 'PUT /v1/partner/payments HTTP/1.1', 'Content-Length: 60000'],
      [413, post('payments'), 'Content-Length: 65537'],
    ] as const) {
      const connection = await open(...head);
      const answer = parseAnswer(await connection.until('}'));
      connection.reset();
      expect.soft(answer.status, head.join()).toBe(status);
    }
  });

  it('a body that is too long or that no one wants is refused before it has come', async () => {
    const { provider, database } = await partnerProvider();
    const { key } = await provider.key();
    database.forget();
    const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    for (const [headers, body, status] of [
      // Refused by the announced length, without a query of the database.
      [[`X-API-Key: ${key}`, 'Content-Length: 65537'], 'x', 413],
      [chunked, chunk(4), 401],
      // Refused by counting the bytes as they arrive.
      [[`X-API-Key: ${key}`, ...chunked], chunk(64 * 1024) + chunk(1), 413],
    ] as const) {
      if (status === 401) expect(database.calls).toEqual([]);
      const connection = await RawConnection.open(provider.origin);
      const head = ['POST /v1/partner/payments HTTP/1.1', 'Host: a', ...headers];
      connection.write([...head, '', body].join('\r\n'));
      const answer = parseAnswer(await connection.until('}'));
      connection.reset();
      expect(answer.status).toBe(status);
    }
  });

  it('a small body that was not read leaves the connection good for the next request', async () => {
    const connection = await open('POST /v1/partner/verify HTTP/1.1', 'Content-Length: 4');
    connection.write('abcd');
    connection.write(rawGet('/v1/openapi.json'));
    const answers = (await connection.all()).match(/HTTP\/1\.1 \d{3} /g);
    expect(answers).toEqual(['HTTP/1.1 401 ', 'HTTP/1.1 200 ']);
  });
});

it('an unexpected body is refused', async () => {
  const withBody = rawPost('/v1/partner/payments', [`X-API-Key: ${key}`], '{"a":1}').toString('latin1');
  for (const [method, status, ...allowed] of [
    ['GET', 400],
    ['DELETE', 405, 'POST, GET, HEAD'],
  ] as const) {
    const answer = await sendRaw(provider.origin, withBody.replace('POST', method));
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, 'invalid_request']);
    expect(answer.values('allow')).toEqual(allowed);
  }
  // Many clients always send a media type, even without a body.
  const headers = { 'content-type': 'application/json' };
  const typed = await provider.partnerCall(key, 'GET /v1/partner/payments', undefined, headers);
  expect(typed.status).toBe(200);
});
