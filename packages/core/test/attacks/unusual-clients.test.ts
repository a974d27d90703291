import { expect, it } from 'vitest';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { rawPost, sendRaw } from './raw.ts';

const provider = await startProvider();
const client = await provider.client();

it.each([
  ['Expect: 100-continue, as curl and .NET send it', ['Expect: 100-continue'], (body: string) => body],
  ['a byte order mark before the form', [], (body: string) => `\ufeff${body}`],
  ['another charset in the media type', ['Accept: */*'], (body: string) => body],
] as const)('a code is exchanged with %s', async (what, headers, written) => {
  const charset = what.includes('charset') ? '; charset=ISO-8859-1' : '';
  const form = new URLSearchParams(tokenRequest(client, await provider.code(client)));
  const type = `Content-Type: application/x-www-form-urlencoded${charset}`;
  const request = rawPost('/v1/oauth/token', [type, ...headers], written(String(form)));
  const { body } = await sendRaw(provider.origin, request);
  expect(body).toContain('"access_token":"svc_at_');
});

it.each([
  'foo=%E0%A4%A; bar="x',
  'svc_interaction=x; svc_interaction=y',
  ';;;=',
  '__proto__=1',
  `a=${'x'.repeat(500)}`,
])('cookies of other apps on the host do not stand in the way of a sign-in: %s', async (cookies) => {
  const url = new URL(provider.authorizeUrl(client, { prompt: 'consent' }));
  const { origin, host } = new URL(provider.origin);
  const head = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${host}`,
    `Cookie: ${cookies}`,
    'Connection: close',
  ];
  const { status, values } = await sendRaw(origin, `${head.join('\r\n')}\r\n\r\n`);
  expect([status, values('location')[0]?.includes('/oauth/interaction/')]).toEqual([303, true]);
  expect(provider.errors).toEqual([]);
});
