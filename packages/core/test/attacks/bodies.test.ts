import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';
import { type RawAnswer, rawPost, sendRaw } from './raw.ts';

const json = ['Content-Type: application/json'];
const form = ['Content-Type: application/x-www-form-urlencoded'];

interface HostileBody {
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
  /** @defaultValue 400 */
  readonly status?: number;
}

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

/** What `token` and everything else that an endpoint needs look like, spoilt in one way each. */
const hostileJson: Readonly<Record<string, string | Uint8Array>> = {
  'arrays 30,000 deep around what has to be looked for': `${'['.repeat(30_000)}"\\ud800"${']'.repeat(30_000)}`,
  'a member twice behind an escaped quote': '{"a\\"":"\\\\","a\\u0022":"b","token":"x"}',
  'arrays 10,000 deep': `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  'objects 10,000 deep': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'a value 10,000 deep': `{"token":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  'open arrays without end': '['.repeat(60_000),
  'a member twice': '{"token":"a","token":"b"}',
  'a member twice, alike': '{"token":"a","token":"a"}',
  'a member twice, once escaped': '{"token":"a","\\u0074oken":"b"}',
  'a member twice, both escaped': '{"\\u0074oken":"a","t\\u006fken":"b"}',
  'a member twice, deep inside': '{"token":{"a":"1","\\u0061":"2"}}',
  'the name __proto__': '{"__proto__":{"token":"a"}}',
  '__proto__ as a string': '{"__proto__":"x","token":"a"}',
  'escaped __proto__': '{"__prot\\u006f__":{"token":"a"}}',
  'inherited names with objects': '{"constructor":{"prototype":{"token":"a"}}}',
  'inherited names with numbers': '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
  'a number for a string': '{"token":1}',
  'an immense number': '{"token":1e400}',
  'null for a string': '{"token":null}',
  'a truth value for a string': '{"token":true}',
  'a list for a string': '{"token":["a"]}',
  'an object for a string': '{"token":{"toString":"a"}}',
  'a list': '["token"]',
  'a string': '"token"',
  'a number': '1',
  null: 'null',
  nothing: '',
  spaces: '   \n',
  'cut JSON': '{"token":"a"',
  'a cut escape': '{"token":"\\u00',
  'two values': '{"token":"a"}{"token":"b"}',
  'JSON with a comment': '{/**/"token":"a"}',
  'JSON with a trailing comma': '{"token":"a",}',
  'single quotes': "{'token':'a'}",
  'a call instead of data': 'callback({"token":"a"})',
  'two byte order marks': '\uFEFF\uFEFF{"token":"a"}',
  'UTF-16': Buffer.from('\uFEFF{"token":"a"}', 'utf16le'),
  'U+0000': '{"token":"a\u0000"}',
  'escaped U+0000': '{"token":"a\\u0000"}',
  'escaped U+0000 in a name': '{"token\\u0000":"a"}',
  'half a surrogate pair': '{"token":"\\ud800"}',
  'the other half of a surrogate pair': '{"token":"\\uDC00"}',
  'half a surrogate pair in a name': '{"\\udfff":"a"}',
  'a surrogate pair the wrong way around': '{"token":"\\udc00\\ud800"}',
  'invalid UTF-8': bytes('{"token":"', [0xff, 0xfe], '"}'),
  'an overlong form': bytes('{"token":"', [0xc0, 0xaf], '"}'),
  'an encoded surrogate': bytes('{"token":"', [0xed, 0xa0, 0x80], '"}'),
  'a cut UTF-8 sequence': bytes('{"token":"a"}', [0xe2, 0x82]),
  'gzip without a word': gzipSync('{"token":"a"}'),
};

const hostileForms: Readonly<Record<string, string | Uint8Array>> = {
  'brackets of other parsers': 'token[]=a&token[toString]=b&__proto__[token]=c',
  'a parameter twice': 'token=a&token=b',
  'a parameter twice, once encoded': 'token=a&%74oken=b',
  'a parameter twice, once empty': 'token=a&token=',
  'invalid percent-encoding': 'token=%zz',
  'cut percent-encoding': 'token=a%',
  'encoded invalid UTF-8': 'token=%ff%fe',
  'encoded surrogate': 'token=%ed%a0%80',
  'invalid UTF-8': bytes('token=', [0xff]),
  'encoded U+0000': 'token=a%00',
  'U+0000': 'token=a\u0000',
  'U+0000 in a name': 'token%00=a',
  JSON: '{"token":"a"}',
  'nothing but separators': '&'.repeat(60_000),
  'nothing but equals signs': '='.repeat(60_000),
};

/** A body of a type that nobody reads here. */
const typed = (type: string, body = '{"token":"a"}'): HostileBody => ({
  headers: [`Content-Type: ${type}`],
  body,
  status: 415,
});

const hostile: Readonly<Record<string, HostileBody>> = {
  ...Object.fromEntries(Object.entries(hostileJson).map(([name, body]) => [name, { headers: json, body }])),
  ...Object.fromEntries(
    Object.entries(hostileForms).map(([name, body]) => [`form: ${name}`, { headers: form, body }]),
  ),
  'JSON sent as a list of types': typed('application/json, text/plain'),
  'no type': { headers: [], body: '{"token":"a"}', status: 415 },
  'plain text': typed('text/plain'),
  XML: typed('application/xml', '<token>a</token>'),
  'JSON of another kind': typed('application/ld+json'),
  multipart: typed(
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="token"\r\n\r\na\r\n--x--\r\n',
  ),
  gzip: { headers: [...json, 'Content-Encoding: gzip'], body: gzipSync('{"token":"a"}'), status: 415 },
  'a gzip bomb': {
    headers: [...form, 'Content-Encoding: gzip'],
    body: gzipSync('a'.repeat(10_000_000)),
    status: 415,
  },
  'an unknown encoding': { headers: [...json, 'Content-Encoding: __proto__'], body: '{}', status: 415 },
  'an announced gigabyte': { headers: [...json, 'Content-Length: 1000000000'], body: '{', status: 413 },
  'an announced gigabyte in a form': {
    headers: [...form, 'Content-Length: 9007199254740993'],
    body: 't',
    status: 413,
  },
  'chunks beyond the limit': {
    headers: [...json, 'Transfer-Encoding: chunked'],
    body: `${`4000\r\n${'a'.repeat(0x4000)}\r\n`.repeat(5)}`,
    status: 413,
  },
  'JSON of 1 MB': { headers: json, body: `{"token":"${'a'.repeat(1_000_000)}"}`, status: 413 },
  'one byte too many': { headers: json, body: `{"token":"${'a'.repeat(64 * 1024 - 11)}"}`, status: 413 },
  'form: of 1 MB': { headers: form, body: `token=${'a'.repeat(1_000_000)}`, status: 413 },
};

describe('hostile bodies', async () => {
  const provider = await startProvider();
  const client = await provider.client();
  const page = await openConsent(provider, client);

  async function post(
    path: string,
    { headers, body }: HostileBody,
    more: readonly string[] = [],
  ): Promise<RawAnswer> {
    return sendRaw(provider.origin, rawPost(path, [...headers, ...more], body));
  }

  describe.each(Object.entries(hostile))('%s', (_name, request) => {
    it.each(['/v1/oauth/token', '/v1/oauth/revoke'])('%s answers invalid_request in JSON', async (path) => {
      const answer = await post(path, request);
      expect([answer.status, answer.body.slice(0, 26)]).toEqual([
        request.status ?? 400,
        '{"error":"invalid_request"',
      ]);
      expect(answer.values('content-type')).toEqual(['application/json; charset=utf-8']);
      expect(answer.values('cache-control')).toEqual(['no-store']);
      expect(answer.body).not.toMatch(/SyntaxError|\bat \/|node:/);
    });

    it('userinfo answers no user', async () => {
      const answer = await post('/v1/oauth/userinfo', request);
      // A body that can be read and holds no token is a request without one.
      expect([request.status ?? 400, 401]).toContain(answer.status);
      expect(answer.body).toMatch(/^\{"error":"invalid_(request|token)"/);
    });

    it('the consent form approves nothing', async () => {
      const answer = await post(page.path, request, [
        `Cookie: ${page.browser.cookieHeader(page.path)}`,
        'Accept: text/html',
      ]);
      expect([request.status ?? 400, 400]).toContain(answer.status);
      expect(answer.values('location')).toEqual([]);
      expect(answer.values('content-type')).toEqual(['text/html; charset=utf-8']);
    });
  });

  it('harmless ones that look strange are taken', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}=`).join('&');
    const bodies: HostileBody[] = [
      { headers: form, body: `${many}&token=a` },
      { headers: form, body: '&&token=a&&' },
      { headers: form, body: 'token=a&toString=b&__proto__=c&constructor=d' },
      { headers: json, body: '\uFEFF{"token":"a"}' },
      { headers: json, body: '{"token":"a","constructor":"b","toString":"c"}' },
      { headers: json, body: '{"token":"\\ud83d\\ude00"}' },
      { headers: json, body: `{"token":"${'a'.repeat(64 * 1024 - 12)}"}` },
      { headers: ['Content-Type: Application/JSON;charset="utf-8"; x=y'], body: '{"token":"a"}' },
      { headers: [...json, 'Transfer-Encoding: chunked'], body: 'd\r\n{"token":"a"}\r\n0\r\n\r\n' },
    ];
    for (const request of bodies) {
      const answer = await post('/v1/oauth/revoke', request);
      expect([answer.status, answer.body]).toEqual([200, '{"ok":true}']);
    }
  });

  it('leave nothing behind on any prototype', () => {
    for (const name of ['token', 'a', 'decision', 'csrf', 'code']) expect(name in {}).toBe(false);
  });

  it('leave the open page and everybody else as they were', async () => {
    const { callback } = await page.finish();
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
    expect(provider.errors).toEqual([]);
  });
});
