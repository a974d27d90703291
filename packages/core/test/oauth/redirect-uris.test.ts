import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

/** Ways to write an address that means the same, or nearly, to somebody who is not exact. */
const nearly: readonly (readonly [string, string])[] = [
  ['https://app.example/callback', 'https://app.example/callback/'],
  ['https://app.example/callback/', 'https://app.example/callback'],
  ['https://app.example/callback', 'https://app.example/Callback'],
  ['https://app.example/callback', 'https://APP.example/callback'],
  ['https://app.example/callback', 'HTTPS://app.example/callback'],
  ['https://app.example/callback', 'https://app.example:443/callback'],
  ['https://app.example/callback', 'https://app.example/callback?'],
  ['https://app.example/callback', 'https://app.example/callback?next=/'],
  ['https://app.example/callback', 'https://app.example/%63allback'],
  ['https://app.example/callback', 'https://app.example/./callback'],
  ['https://app.example/callback', ' https://app.example/callback'],
  ['https://app.example/callback?a=1', 'https://app.example/callback?a=2'],
  ['https://app.example', 'https://app.example/'],
  ['http://localhost:8080/cb', 'http://localhost:8081/cb'],
  ['http://localhost/cb', 'http://localhost:49152/cb'],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb'],
  ['http://127.0.0.1/cb', 'http://localhost/cb'],
  ['http://[::1]/cb', 'http://[::1]:49152/cb'],
  ['com.example.app:/cb', 'com.example.app://cb'],
];

describe('a redirect URI that is not the right one', () => {
  const registered = 'https://app.example/callback';

  it('is told in the log with the client, bounded and printable, and neither on the page nor in an answer', async () => {
    const client = await provider.client({ redirectUris: [registered] });
    const before = provider.logged.length;
    const long = `${registered}/\u202e\n${'x'.repeat(3_000)}`;
    const sent = [`${registered}/`, `${registered}?code=SECRET&state=SECRET`, long];
    for (const redirect_uri of sent) {
      const { status, text } = await provider.browser().get(provider.authorizeUrl(client, { redirect_uri }));
      expect(status).toBe(400);
      expect(text).not.toContain(registered);
    }
    expect(provider.logged.slice(before)).toEqual(
      [
        `${registered}/`,
        `${registered}?code=...&state=...`,
        `${registered}/\\u{202e}\\u{a}${'x'.repeat(169)}... (3031 characters)`,
      ].map((redirectUri) => ({
        level: 'warn',
        message: 'an authorization request was refused: its redirect_uri is not registered',
        fields: { client: client.id, redirectUri },
      })),
    );
  });

  it('is told so at the token endpoint too, registered or not', async () => {
    const other = 'https://app.example/other';
    const client = await provider.client({ redirectUris: [registered, other] });
    const code = await provider.code(client);
    const before = provider.logged.length;
    for (const redirect_uri of [other, `${registered}/`]) {
      const { status, text } = await provider.exchange(client, code, { redirect_uri });
      expect(status).toBe(400);
      expect(text).not.toContain('app.example');
    }
    expect(provider.logged.slice(before)).toEqual([
      {
        level: 'warn',
        message: 'a code was refused: its redirect_uri is not that of the authorization request',
        fields: { client: client.id, redirectUri: other },
      },
      {
        level: 'warn',
        message: 'a code was refused: its redirect_uri is not registered',
        fields: { client: client.id, redirectUri: `${registered}/` },
      },
    ]);
    expect((await provider.exchange(client, code)).status).toBe(200);
  });
});

describe('a redirect URI', () => {
  it.each(nearly)('registered as %s does not match %s', async (registered, sent) => {
    const isPublic = registered.startsWith('com.');
    const client = await provider.client({ redirectUris: [registered], public: isPublic });
    const answer = await provider.browser().get(provider.authorizeUrl(client, { redirect_uri: sent }));
    expect([answer.status, answer.location]).toEqual([400, null]);
    expect(answer.text).toContain('redirect_uri_mismatch');
  });

  it.each([
    ...new Set(nearly.map(([registered]) => registered)),
    'https://app.example/cb?a=b&c=%20d',
    'https://app.example/a%2Fb/(c)?x=/',
  ])('registered as %s works when it is sent so', async (registered) => {
    const client = await provider.client({
      redirectUris: [registered],
      public: registered.startsWith('com.'),
      firstParty: true,
    });
    // Every client may use PKCE; a public one has to.
    const { pkce } = await import('../support/provider.ts');
    const { verifier, challenge } = pkce();
    const { location } = await provider.follow(
      provider.browser(),
      provider.authorizeUrl(client, { code_challenge: challenge, code_challenge_method: 'S256' }),
    );
    const [sentTo, parameters] = [new URL(location ?? ''), new URL(location ?? '').searchParams];
    const code = parameters.get('code') ?? '';
    for (const name of ['code', 'state', 'iss']) parameters.delete(name);
    const expected = new URL(registered);
    expect([sentTo.protocol, sentTo.host, sentTo.pathname]).toEqual([
      expected.protocol,
      expected.host,
      expected.pathname,
    ]);
    expect([...parameters]).toEqual([...expected.searchParams]);
    expect((await provider.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
  });

  it('missing or empty is invalid_request at authorize, a page, even with one registered URI', async () => {
    const client = await provider.client();
    for (const redirect_uri of [undefined, '']) {
      const answer = await provider.browser().get(provider.authorizeUrl(client, { redirect_uri }));
      expect([answer.status, answer.location]).toEqual([400, null]);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.text).toContain('invalid_request');
    }
  });

  it('given twice is invalid_request, a page, even if both are the registered one', async () => {
    const client = await provider.client();
    const url = provider.authorizeUrl(client);
    const answer = await provider
      .browser()
      .get(`${url}&redirect_uri=${encodeURIComponent(client.redirectUri)}`);
    expect([answer.status, answer.location]).toEqual([400, null]);
  });
});

describe('at the token endpoint a redirect URI', () => {
  let client: TestClient;
  beforeAll(async () => {
    client = await provider.client({
      redirectUris: ['https://app.example/callback', 'https://app.example/other'],
    });
  });

  it.each([
    ['https://app.example/other', 'invalid_grant'],
    ['https://app.example/callback/', 'redirect_uri_mismatch'],
    ['https://evil.example/', 'redirect_uri_mismatch'],
    ['nonsense', 'redirect_uri_mismatch'],
    ['', 'invalid_request'],
    [undefined, 'invalid_request'],
  ])('%s instead of the one of the request is %s, and the code stays usable', async (redirect_uri, error) => {
    const code = await provider.code(client);
    const answer = await provider.exchange(client, code, { redirect_uri });
    expect([answer.status, answer.json().error]).toEqual([400, error]);
    expect((await provider.exchange(client, code)).status).toBe(200);
  });

  it('that was taken from the client in the meantime still is the one of the request', async () => {
    const code = await provider.code(client);
    await provider.ostiary.admin.clients.update(client.id, { redirectUris: ['https://app.example/other'] });
    expect((await provider.exchange(client, code)).status).toBe(200);
    await provider.ostiary.admin.clients.update(client.id, {
      redirectUris: ['https://app.example/callback', 'https://app.example/other'],
    });
  });
});
