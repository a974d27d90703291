import { describe, expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const registered = 'https://app.example/callback';
const other = 'https://app.example/other';
const redirectUris = [registered, other];
const client = await provider.client({ redirectUris });

describe('a redirect URI that is not the right one', () => {
  const warning = (message: string, redirectUri: string) => {
    return { level: 'warn', message, fields: { client: client.id, redirectUri } };
  };

  it('is logged with the client and shown to its developers, shortened, printable and without secrets', async () => {
    const before = provider.logged.length;
    const long = `${registered}/\u202e\n${'x'.repeat(3_000)}`;
    for (const redirect_uri of [`${registered}/`, `${registered}?code=SECRET&state=SECRET`, long]) {
      const { status, text } = await provider.browser().get(provider.authorizeUrl(client, { redirect_uri }));
      expect(status).toBe(400);
      expect(text).toContain(`It was: ${registered}`);
      expect(text).not.toMatch(/SECRET|\u202e|x{1000}/);
    }
    const message = 'an authorization request was refused: its redirect_uri is not registered';
    const told = ['/', '?code=...&state=...', `/\\u202e\\u000a${'x'.repeat(169)}... (3031 characters)`];
    expect(provider.logged.slice(before)).toEqual(told.map((rest) => warning(message, registered + rest)));
  });

  it('does not appear in a response for programs', async () => {
    const url = provider.authorizeUrl(client, { redirect_uri: `${registered}/` });
    const { text } = await provider.browser().get(url, { accept: 'application/json' });
    expect(text).toContain('redirect_uri_mismatch');
    expect(text).not.toContain(registered);
  });

  it('gets an error that says so at the token endpoint, too', async () => {
    const code = await provider.code(client);
    const before = provider.logged.length;
    for (const [redirect_uri, outcome] of [
      [other, '400 invalid_grant'],
      [`${registered}/`, '400 redirect_uri_mismatch'],
      ['', '400 invalid_request'],
      [undefined, '400 invalid_request'],
    ]) {
      const answer = await provider.exchange(client, code, { redirect_uri });
      expect(answer.outcome).toBe(outcome);
      expect(answer.text).not.toContain('app.example');
    }
    expect(provider.logged.slice(before)).toEqual([
      warning('a code was refused: its redirect_uri is not that of the authorization request', other),
      warning('a code was refused: its redirect_uri is not registered', `${registered}/`),
    ]);
    expect(await provider.redeem(client, code)).toBe('200 ok');
  });
});

describe('a redirect URI', () => {
  // Redirect URIs that are nearly equal; the tests of attacks have many more variants.
  it.each([
    ['https://app.example/callback/', 'https://app.example/callback'],
    ['https://app.example/callback?a=1', 'https://app.example/callback?a=2'],
    ['https://app.example', 'https://app.example/'],
    ['http://localhost:8080/cb', 'http://localhost:8081/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:49152/cb'],
    ['http://[::1]/cb', 'http://[::1]:49152/cb'],
    ['com.example.app:/cb', 'com.example.app://cb'],
    ['https://app.example/a%2Fb/(c)?a=b&c=%20d&x=/', 'https://app.example/a/b/(c)?a=b&c=%20d&x=/'],
  ])('registered as %s works when it is sent so, and does not match %s', async (uri, sent) => {
    const of = await provider.client({ redirectUris: [uri], public: uri.startsWith('com.') });
    expect(await provider.attempt(of, { redirect_uri: sent })).toBe('400 redirect_uri_mismatch');
    // PKCE is required for public clients, and optional for the other clients of this test.
    const { verifier, bound } = pkce();
    const { location } = await provider.follow(provider.browser(), provider.authorizeUrl(of, bound));
    const sentTo = new URL(location ?? '');
    const code = sentTo.searchParams.get('code') ?? '';
    for (const name of ['code', 'state', 'iss']) sentTo.searchParams.delete(name);
    const parts = ({ protocol, host, pathname, searchParams }: URL) =>
      [protocol, host, pathname, ...searchParams].join(' ');
    expect(parts(sentTo)).toBe(parts(new URL(uri)));
    expect(await provider.redeem(of, code, { code_verifier: verifier })).toBe('200 ok');
  });

  it('that was taken from the client in the meantime still is the one of the request', async () => {
    const { clients } = provider.ostiary.admin;
    const code = await provider.code(client);
    await clients.update(client.id, { redirectUris: [other] });
    expect(await provider.redeem(client, code)).toBe('200 ok');
    await clients.update(client.id, { redirectUris });
  });
});

it('a name below .localhost is a loopback address (RFC 6761), and one that only ends so is not', async () => {
  const client = await provider.client({ redirectUris: ['http://app.localhost:4000/cb'] });
  const callback = await provider.authorize(client);
  expect(callback.has('code')).toBe(true);
  for (const host of ['applocalhost', 'localhost.example', '.localhost.example'])
    await expect(provider.client({ redirectUris: [`http://${host}/cb`] })).rejects.toThrow();
});
