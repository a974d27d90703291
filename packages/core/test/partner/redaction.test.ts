import { describe, expect, it } from 'vitest';
import { bodyRedaction } from '../../src/partner/redaction.ts';

describe('a body in the log', () => {
  const redacted = bodyRedaction('svc');

  it.each<readonly [unknown, unknown]>([
    [
      { secret: 'x', url: 'https://a.example' },
      { secret: '[removed]', url: 'https://a.example' },
    ],
    [
      { secret: ['x'], token: { a: 'x' } },
      { secret: '[removed]', token: '[removed]' },
    ],
    [
      { recipient: { phone: '+509' }, secret: null },
      { recipient: { phone: '[removed]' }, secret: null },
    ],
    [['svc_live_aZ-_09 and svc_at_abc'], ['[removed] and [removed]']],
    [
      ['svc_secret_aZ-_09, svc_sign_abc, svc_rt_abc', 'svc_client_0123', 'svc_new_kind'],
      ['[removed], [removed], [removed]', 'svc_client_0123', '[removed]'],
    ],
    [['-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n'], ['[removed]']],
    ['a -----BEGIN EC PRIVATE KEY-----\nMIGH', 'a [removed]'],
    [
      { secretKey: 'a', private_key: 'b', passphrase: 'c', pin: 1234, cardPIN: 'd', otp: 'e', totp: 'f' },
      {
        ...{ secretKey: '[removed]', private_key: '[removed]', passphrase: '[removed]', pin: '[removed]' },
        ...{ cardPIN: '[removed]', otp: '[removed]', totp: '[removed]' },
      },
    ],
    [
      {
        passcode: 'a',
        pinCode: 'b',
        cvc: 'c',
        'session-cookie': 'd',
        credentials: { e: 1 },
        signingKey: 'f',
      },
      {
        ...{ passcode: '[removed]', pinCode: '[removed]', cvc: '[removed]', 'session-cookie': '[removed]' },
        ...{ credentials: '[removed]', signingKey: '[removed]' },
      },
    ],
    [
      { code: 'invalid_request', idempotencyKey: 'k', publicKey: 'p', mapping: 'm' },
      { code: 'invalid_request', idempotencyKey: 'k', publicKey: 'p', mapping: 'm' },
    ],
    [
      {
        client_secret: 'a',
        'X-Api-Key': 'b',
        legalName: 'c',
        Authorization: 'd',
        e_mails: { f: 'g' },
        nameless: 'h',
      },
      {
        ...{ client_secret: '[removed]', 'X-Api-Key': '[removed]', legalName: '[removed]' },
        ...{ Authorization: '[removed]', e_mails: '[removed]', nameless: 'h' },
      },
    ],
    [
      { svc_test_abc: 1, 'eyJa.eyJb.c': 2, url: 'https://a.example/_svc_live_abc?whsec_0123' },
      { '[removed]': 2, url: 'https://a.example/_[removed]?[removed]' },
    ],
    ['x-eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2ln', '[removed]'],
    ['https://a.example/eyJ', 'https://a.example/eyJ'],
    ['a eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2ln-_ b', 'a [removed] b'],
    [{ __proto__: null, constructor: 'a' }, { constructor: 'a' }],
    [
      [1, true, null],
      [1, true, null],
    ],
  ])('%j is kept as %j', (body, kept) => {
    expect(JSON.parse(redacted(JSON.stringify(body)) ?? 'null')).toEqual(kept);
  });

  it('is without what an error blames, is 8 KiB at most, and well-formed', () => {
    expect(redacted('{"events":["a","b"],"x":{"y":1}}', ['events.1', 'x'])).toBe(
      '{"events":["a","[removed]"],"x":"[removed]"}',
    );
    const long = redacted(JSON.stringify({ a: `b${'🔑'.repeat(5000)}` })) ?? '';
    expect(long.length).toBe(8192);
    expect(long.isWellFormed()).toBe(true);
  });

  it.each([
    '-eyJ',
    'eyJ.',
    '-eyJa.b',
    '.eyJ-',
    'svc_test_-',
    '_svc_test_',
    'svc_',
    'svc_a',
    'whsec_',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
  ])('that is full of beginnings (%s) takes no longer than any other', (beginning) => {
    const fill = (text: string) => JSON.stringify({ a: text.repeat(64_000 / text.length) });
    const [plain, hostile] = [fill('abc '), fill(beginning)].map((body) => {
      const startedAt = process.cpuUsage();
      redacted(body);
      return process.cpuUsage(startedAt).user / 1000;
    });
    expect(hostile).toBeLessThan(200 + 20 * (plain ?? 0));
  });

  it.each(['', '{', 'a=b', '\u0000'])('that is no JSON is not kept: %j', (body) => {
    expect(redacted(body)).toBeNull();
  });
});
