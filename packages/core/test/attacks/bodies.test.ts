import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';
import { listed, type RawAnswer, rawPost, sendRaw } from './raw.ts';

const json = 'Content-Type: application/json';
const form = 'Content-Type: application/x-www-form-urlencoded';

type Body = string | Uint8Array;
type Hostile = readonly [name: string, status: number, headers: readonly string[], body: Body];

const bytes = (before: string, raw: number[], after = '') =>
  Buffer.concat([Buffer.from(before), Buffer.from(raw), Buffer.from(after)]);
const deep = (depth: number, inner: string) => '['.repeat(depth) + inner + ']'.repeat(depth);
const token = '{"token":"a"}';
const megabyte = 'a'.repeat(1_000_000);

/** JSON request bodies that the tested endpoints must refuse. */
const hostileJson: readonly (readonly [name: string, body: Body])[] = [
  ...listed('json-bodies.txt'),
  ['arrays 30,000 deep around what has to be looked for', deep(30_000, '"\\ud800"')],
  ['arrays 10,000 deep', deep(10_000, '')],
  ['objects 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ['a value 10,000 deep', `{"token":${deep(10_000, '')}}`],
  ['open arrays without end', '['.repeat(60_000)],
  ['nothing', ''],
  ['spaces', '   \n'],
  ['two byte order marks', `\uFEFF\uFEFF${token}`],
  ['UTF-16', Buffer.from(`\uFEFF${token}`, 'utf16le')],
  ['U+0000', '{"token":"a\u0000"}'],
  ['invalid UTF-8', bytes('{"token":"', [0xff, 0xfe], '"}')],
  ['an overlong form', bytes('{"token":"', [0xc0, 0xaf], '"}')],
  ['an encoded surrogate', bytes('{"token":"', [0xed, 0xa0, 0x80], '"}')],
  ['a cut UTF-8 sequence', bytes(token, [0xe2, 0x82])],
  ['gzip without a word', gzipSync(token)],
];

const hostileForms: readonly (readonly [name: string, body: Body])[] = [
  ...listed('form-bodies.txt'),
  ['invalid UTF-8', bytes('token=', [0xff])],
  ['U+0000', 'token=a\u0000'],
  ['nothing but separators', '&'.repeat(60_000)],
  ['nothing but equals signs', '='.repeat(60_000)],
];

/** Media types that the tested endpoints do not accept. */
const otherTypes = ['application/json, text/plain', 'text/plain', 'application/xml', 'application/ld+json'];
const gzip = 'Content-Encoding: gzip';
const multipart = '--x\r\nContent-Disposition: form-data; name="token"\r\n\r\na\r\n--x--\r\n';

const hostile: readonly Hostile[] = [
  ...hostileJson.map(([name, body]) => [name, 400, [json], body] as const),
  ...hostileForms.map(([name, body]) => [`form: ${name}`, 400, [form], body] as const),
  ...otherTypes.map((type) => [type, 415, [`Content-Type: ${type}`], token] as const),
  ['no type', 415, [], token],
  ['multipart', 415, ['Content-Type: multipart/form-data; boundary=x'], multipart],
  ['gzip', 415, [json, gzip], gzipSync(token)],
  ['a gzip bomb', 415, [form, gzip], gzipSync('a'.repeat(10_000_000))],
  ['an unknown encoding', 415, [json, 'Content-Encoding: __proto__'], '{}'],
  ['an announced gigabyte', 413, [json, 'Content-Length: 1000000000'], '{'],
  ['an announced gigabyte in a form', 413, [form, 'Content-Length: 9007199254740993'], 't'],
  ['chunks beyond the limit', 413, [json, 'Transfer-Encoding: chunked'], `F4240\r\n${megabyte}\r\n`],
  ['JSON of 1 MB', 413, [json], `{"token":"${megabyte}"}`],
  ['one byte too many', 413, [json], `{"token":"${'a'.repeat(64 * 1024 - 11)}"}`],
  ['form: of 1 MB', 413, [form], `token=${megabyte}`],
];

describe('hostile bodies', async () => {
  const provider = await startProvider();
  const client = await provider.client();
  const page = await openConsent(provider, client);
  const ofPage = [`Cookie: ${page.browser.cookieHeader(page.path)}`, 'Accept: text/html'];
  const post = (path: string, headers: readonly string[], body: Body): Promise<RawAnswer> =>
    sendRaw(provider.origin, rawPost(path, headers, body));

  it.each(hostile)('%s: %d, in JSON, for no user, and no approval', async (_name, status, headers, body) => {
    for (const path of ['/v1/oauth/token', '/v1/oauth/revoke']) {
      const answer = await post(path, headers, body);
      expect([answer.status, answer.body.slice(0, 26)]).toEqual([status, '{"error":"invalid_request"']);
      expect(answer.values('content-type')).toEqual(['application/json; charset=utf-8']);
      expect(answer.values('cache-control')).toEqual(['no-store']);
      expect(answer.body).not.toMatch(/SyntaxError|\bat \/|node:/);
    }
    const userinfo = await post('/v1/oauth/userinfo', headers, body);
    // A readable body without a token counts as a request without one.
    expect([status, 401]).toContain(userinfo.status);
    expect(userinfo.body).toMatch(/^\{"error":"invalid_(request|token)"/);
    const approval = await post(page.path, [...headers, ...ofPage], body);
    expect([status, 400]).toContain(approval.status);
    expect(approval.values('location')).toEqual([]);
    expect(approval.values('content-type')).toEqual(['text/html; charset=utf-8']);
  });

  it('harmless unusual ones are accepted', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}=`).join('&');
    const chunked = 'Transfer-Encoding: chunked';
    for (const [type, body, ...headers] of [
      [form, `${many}&token=a`],
      [form, '&&token=a&&'],
      [form, 'token=a&toString=b&__proto__=c&constructor=d'],
      [json, `\uFEFF${token}`],
      [json, '{"token":"a","constructor":"b","toString":"c"}'],
      [json, '{"__proto__":"x","token":"a"}'],
      [json, '{"a\\"":"\\\\","a\\u0022":"b","token":"x"}'],
      [json, '{"token":"\\ud83d\\ude00"}'],
      [json, `{"token":"${'a'.repeat(64 * 1024 - 12)}"}`],
      ['Content-Type: Application/JSON;charset="utf-8"; x=y', token],
      [json, `d\r\n${token}\r\n0\r\n\r\n`, chunked],
    ] as const) {
      const answer = await post('/v1/oauth/revoke', [type, ...headers], body);
      expect([answer.status, answer.body]).toEqual([200, '{"ok":true}']);
    }
  });

  it('leave nothing behind on any prototype, and the open page and everybody else as they were', async () => {
    for (const name of ['token', 'a', 'decision', 'csrf', 'code']) expect(name in {}).toBe(false);
    const { callback } = await page.finish();
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
    expect(provider.errors).toEqual([]);
  });
});
