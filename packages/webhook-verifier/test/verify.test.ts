import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { safeVerify, type VerifyOptions, verify, type WebhookHeaders } from '../src/index.ts';
import { deliveryOf, event, now, secret, timestamp } from './support/delivery.ts';

const { body, headers } = deliveryOf();
const options = { secret, now };

async function codeOf(rawBody: unknown, given: WebhookHeaders = headers, more: VerifyOptions = options) {
  const result = await safeVerify(rawBody as string, given, more);
  return result.ok ? 'accepted' : result.error.code;
}

describe('a body', () => {
  const text = new TextDecoder().decode(body);
  const padded = Buffer.concat([Buffer.from('xx'), body, Buffer.from('yy')]);

  it.each([
    ['a string', text],
    ['a Uint8Array', body],
    ['a Buffer', Buffer.from(body)],
    ['an ArrayBuffer', body.slice().buffer],
    ['a part of a larger buffer', padded.subarray(2, -2)],
    ['a DataView of a part', new DataView(padded.buffer, padded.byteOffset + 2, body.length)],
    ['a Uint8Array of another realm', runInNewContext('Uint8Array.from(bytes)', { bytes: [...body] })],
    [
      'an ArrayBuffer of another realm',
      runInNewContext('Uint8Array.from(bytes).buffer', { bytes: [...body] }),
    ],
  ])('may be %s', async (_name, rawBody) => {
    expect(await codeOf(rawBody)).toBe('accepted');
  });

  it('is refused as parsed when it is an object, an array or a number', async () => {
    for (const parsed of [
      event,
      [event],
      1,
      true,
      Buffer.from(body).toJSON(),
      new Request('http://a.example'),
    ]) {
      expect(await codeOf(parsed)).toBe('body_already_parsed');
    }
  });

  it('is refused as missing when there is none', async () => {
    expect(await codeOf(undefined)).toBe('body_missing');
    expect(await codeOf(null)).toBe('body_missing');
  });

  it('that was decoded lossily is told apart from one that was changed', async () => {
    const latin = Buffer.from('{"name":"caf\u00e9"}', 'latin1');
    const lossy = await safeVerify(latin.toString('utf8'), deliveryOf(latin).headers, options);
    expect(lossy.ok ? '' : lossy.error.message).toContain('decoded wrongly');
    const changed = await safeVerify(`${text} `, headers, options);
    expect(changed.ok ? '' : changed.error.message).toContain('parsed and written again');
  });

  it('with a lone surrogate is refused before it would be hashed as something else', async () => {
    const replaced = deliveryOf('"\uFFFD"');
    expect(await codeOf('"\uD800"', replaced.headers)).toBe('body_not_utf8');
  });

  it('may hold the replacement character itself', async () => {
    const withReplacement = deliveryOf(JSON.stringify({ ...event, data: { message: '\uFFFD' } }));
    expect(await codeOf(withReplacement.body, withReplacement.headers)).toBe('accepted');
    expect(await codeOf(Buffer.from(withReplacement.body), withReplacement.headers)).toBe('accepted');
  });

  it('with a byte order mark is no JSON, as bytes and as a string', async () => {
    const marked = deliveryOf(`\uFEFF${JSON.stringify(event)}`);
    expect(await codeOf(marked.body, marked.headers)).toBe('body_not_json');
    expect(await codeOf(`\uFEFF${JSON.stringify(event)}`, marked.headers)).toBe('body_not_json');
  });

  it('is not changed', async () => {
    const copy = Buffer.from(body);
    await verify(copy, headers, options);
    expect(copy).toEqual(Buffer.from(body));
  });
});

describe('headers', () => {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );

  it.each<[string, WebhookHeaders]>([
    ['as they are written', headers],
    ['of Node', lower],
    ['in upper case', upper],
    ['of Fetch', new Headers(headers)],
    ['in lists of one', Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))],
    ['without a prototype', Object.assign(Object.create(null), lower)],
    ['in a Map', new Map(Object.entries(lower)) as unknown as WebhookHeaders],
    ['beside others that are not set', { ...lower, 'x-other': undefined, 'X-SVC-SIGNATURE': undefined }],
  ])('may be %s', async (_name, given) => {
    expect(await codeOf(body, given)).toBe('accepted');
  });

  it('are refused when one came twice, however it shows', async () => {
    for (const name of Object.keys(headers).filter((each) => each.startsWith('X-'))) {
      const value = headers[name] ?? '';
      const twice = new Headers(headers);
      twice.append(name, value);
      expect(await codeOf(body, twice)).toBe('malformed_header');
      expect(await codeOf(body, { ...headers, [name]: [value, value] })).toBe('malformed_header');
      expect(await codeOf(body, { ...headers, [name.toUpperCase()]: value, [name]: value })).toBe(
        name === name.toUpperCase() ? 'accepted' : 'malformed_header',
      );
      expect(await codeOf(body, { ...headers, [name]: `${value},${value}` })).toBe('malformed_header');
    }
  });

  it('are refused by name when one is missing, undefined, null or an empty list', async () => {
    const needed = Object.keys(headers).filter((each) => each.startsWith('X-') && each !== 'X-SVC-Attempt');
    for (const name of needed) {
      for (const value of [undefined, null, []]) {
        const result = await safeVerify(body, { ...headers, [name]: value }, options);
        expect(result.ok ? '' : result.error.code).toBe('missing_header');
        expect(result.ok ? '' : result.error.message).toContain(name);
      }
    }
  });

  it('that are no strings are refused', async () => {
    const number = { ...headers, 'X-SVC-Timestamp': timestamp } as unknown as WebhookHeaders;
    expect(await codeOf(body, number)).toBe('malformed_header');
  });

  it('with 100,000 signatures are refused without looking at them', async () => {
    const signature = headers['X-SVC-Signature'] ?? '';
    const many = Array.from({ length: 100_000 }, () => signature);
    const started = performance.now();
    expect(await codeOf(body, { ...headers, 'X-SVC-Signature': many.join(', ') })).toBe('malformed_header');
    expect(await codeOf(body, { ...headers, 'X-SVC-Signature': many })).toBe('malformed_header');
    const hex = 'a'.repeat(6_400_000);
    for (const name of Object.keys(headers)) {
      if (name !== 'Content-Type')
        expect(await codeOf(body, { ...headers, [name]: hex })).toBe('malformed_header');
    }
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('that are nothing are a mistake of the caller', async () => {
    for (const given of [undefined, null, 'X-SVC-Event: a']) {
      await expect(verify(body, given as unknown as WebhookHeaders, options)).rejects.toThrow(TypeError);
    }
  });
});

describe('the age', () => {
  it.each([
    [300_000, 'accepted'],
    [300_001, 'timestamp_too_old'],
    [-300_000, 'accepted'],
    [-300_001, 'timestamp_too_new'],
    [-31_536_000_000, 'timestamp_too_new'],
  ])('of %i ms is %s', async (age, expected) => {
    expect(await codeOf(body, headers, { secret, now: now + age })).toBe(expected);
    expect(await codeOf(body, headers, { secret, now: () => now + age })).toBe(expected);
  });

  it('is measured with a tolerance of one’s own', async () => {
    expect(await codeOf(body, headers, { secret, tolerance: 10, now: now + 10_000 })).toBe('accepted');
    expect(await codeOf(body, headers, { secret, tolerance: 10, now: now + 10_001 })).toBe(
      'timestamp_too_old',
    );
  });

  it('is measured by the clock of the machine otherwise', async () => {
    expect(await codeOf(body, headers, { secret })).not.toBe('accepted');
    vi.useFakeTimers({ now });
    try {
      expect(await codeOf(body, headers, { secret })).toBe('accepted');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('secrets', () => {
  const other = 'another secret that is long enough';

  it('are all tried, and the one that matched is named', async () => {
    const both = await verify(body, headers, { secrets: [other, secret], now });
    expect(both.matchedSecret).toBe(1);
    expect((await verify(body, headers, { secrets: [secret, secret], now })).matchedSecret).toBe(0);
    expect(await codeOf(body, headers, { secrets: [other], now })).toBe('signature_mismatch');
  });

  it.each([
    '',
    'undefined',
    'null',
    'NaN',
    '[object Object]',
    '[object Promise]',
    'undefinedundefined',
    ' '.repeat(20),
    '\n'.repeat(16),
    'fifteen letters',
    'sixteen letters\uD800',
    undefined,
    null,
    42,
    {},
    ['correct horse battery staple'],
    Buffer.from(secret),
  ])('that protect nothing are refused: %j', async (weak) => {
    const signed = deliveryOf(body, { key: typeof weak === 'string' ? weak : '' });
    expect(await codeOf(body, signed.headers, { secret: weak as string, now })).toBe('weak_secret');
    expect(await codeOf(body, headers, { secrets: [secret, weak as string], now })).toBe('weak_secret');
  });

  it('of 16 characters are accepted', async () => {
    const key = 'sixteen letters!';
    expect(await codeOf(body, deliveryOf(body, { key }).headers, { secret: key, now })).toBe('accepted');
  });

  it('by the thousand work as well as one', async () => {
    for (let number = 0; number < 2_100; number += 1) {
      const key = `a secret for the endpoint ${number}`;
      expect(await codeOf(body, deliveryOf(body, { key }).headers, { secret: key, now })).toBe('accepted');
    }
    expect(await codeOf(body)).toBe('accepted');
  });
});

describe('options that are wrong', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['null', null],
    ['a tolerance of 0', { secret, tolerance: 0 }],
    ['a tolerance of NaN', { secret, tolerance: Number.NaN }],
    ['a negative tolerance', { secret, tolerance: -1 }],
    ['an infinite tolerance', { secret, tolerance: Number.POSITIVE_INFINITY }],
    ['a tolerance in milliseconds', { secret, tolerance: 300_000 }],
    ['a tolerance of null', { secret, tolerance: null }],
    ['a time in seconds', { secret, now: timestamp }],
    ['a time of NaN', { secret, now: Number.NaN }],
    ['an infinite time', { secret, now: Number.POSITIVE_INFINITY }],
    ['no secrets', { secrets: [] }],
    ['secrets that are a string', { secrets: secret }],
    ['secret and secrets', { secret, secrets: [secret] }],
    ['a prefix in upper case', { secret, now, prefix: 'SVC' }],
    ['a prefix with a dash', { secret, now, prefix: 'x-svc' }],
    ['an empty prefix', { secret, now, prefix: '' }],
  ])('are a TypeError, from verify and from safeVerify: %s', async (_name, wrong) => {
    await expect(verify(body, headers, wrong as VerifyOptions)).rejects.toThrow(TypeError);
    await expect(safeVerify(body, headers, wrong as VerifyOptions)).rejects.toThrow(TypeError);
  });
});

describe('a refusal', () => {
  it('never tells the secret, the right signature or the body', async () => {
    const signature = headers['X-SVC-Signature'] ?? '';
    const changed = Buffer.from(body).fill(120, 30, 31);
    const broken = deliveryOf('{"card":"4242 4242');
    const refusals = [
      await safeVerify(changed, headers, options),
      await safeVerify(broken.body, broken.headers, options),
      await safeVerify(body, { ...headers, 'X-SVC-Signature': 'f'.repeat(64) }, options),
      await safeVerify(body, { ...headers, 'X-SVC-EventId': 'evt_2' }, options),
    ];
    for (const refusal of refusals) {
      if (refusal.ok) throw new Error('accepted');
      const { message, stack = '', cause } = refusal.error;
      expect(cause).toBeUndefined();
      for (const told of [
        secret,
        signature,
        '4242',
        'Café',
        deliveryOf(changed).headers['X-SVC-Signature'] ?? '',
      ]) {
        expect(message + stack + JSON.stringify(refusal.error)).not.toContain(told);
      }
    }
  });
});
