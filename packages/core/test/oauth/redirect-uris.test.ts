import { describe, expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

/** Addresses that are nearly the same; many more ways to bend one are among the attacks. */
const nearly: readonly (readonly [registered: string, sent: string])[] = [
  ['https://app.example/callback', 'https://app.example/callback/'],
  ['https://app.example/callback/', 'https://app.example/callback'],
  ['https://app.example/callback?a=1', 'https://app.example/callback?a=2'],
  ['https://app.example', 'https://app.example/'],
  ['http://localhost:8080/cb', 'http://localhost:8081/cb'],
  ['http://localhost/cb', 'http://localhost:49152/cb'],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb'],
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
  });
});

describe('a redirect URI', () => {
  it.each(nearly)('registered as %s does not match %s', async (registered, sent) => {
    const isPublic = registered.startsWith('com.');
    const client = await provider.client({ redirectUris: [registered], public: isPublic });
    expect(await provider.attempt(client, { redirect_uri: sent })).toBe('400 redirect_uri_mismatch');
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
    const { verifier, bound } = pkce();
    const { location } = await provider.follow(provider.browser(), provider.authorizeUrl(client, bound));
    const sentTo = new URL(location ?? '');
    const code = sentTo.searchParams.get('code') ?? '';
    for (const name of ['code', 'state', 'iss']) sentTo.searchParams.delete(name);
    const expected = new URL(registered);
    const parts = ({ protocol, host, pathname, searchParams }: URL) =>
      [protocol, host, pathname, ...searchParams].join(' ');
    expect(parts(sentTo)).toBe(parts(expected));
    expect(await provider.redeem(client, code, { code_verifier: verifier })).toBe('200 ok');
  });
});

describe('at the token endpoint a redirect URI', async () => {
  const other = 'https://app.example/other';
  const redirectUris = ['https://app.example/callback', other];
  const client = await provider.client({ redirectUris });

  it.each([
    [other, '400 invalid_grant'],
    ['https://app.example/callback/', '400 redirect_uri_mismatch'],
    ['', '400 invalid_request'],
    [undefined, '400 invalid_request'],
  ])(
    '%s instead of the one of the request is %s, and the code stays usable',
    async (redirect_uri, refusal) => {
      const code = await provider.code(client);
      expect(await provider.redeem(client, code, { redirect_uri })).toBe(refusal);
      expect(await provider.redeem(client, code)).toBe('200 ok');
    },
  );

  it('that was taken from the client in the meantime still is the one of the request', async () => {
    const { clients } = provider.ostiary.admin;
    const code = await provider.code(client);
    await clients.update(client.id, { redirectUris: [other] });
    expect(await provider.redeem(client, code)).toBe('200 ok');
    await clients.update(client.id, { redirectUris });
  });
});
