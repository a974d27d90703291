import { describe, expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

describe('the ports of loopback redirect URIs', () => {
  const redirectUris = [
    'http://127.0.0.1/cb?a=1',
    'http://localhost:3000/cb',
    'http://[::1]:4000/cb',
    'https://localhost:8443/cb',
  ];

  it.each([
    ['http://127.0.0.1:49152/cb?a=1', '200 ok'],
    ['http://127.0.0.1/cb?a=1', '200 ok'],
    ['http://localhost/cb', '200 ok'],
    ['http://[::1]:65535/cb', '200 ok'],
    ['http://127.0.0.1:49152/cb', '400 redirect_uri_mismatch'],
    ['http://127.0.0.1:49152/cb?a=2', '400 redirect_uri_mismatch'],
    ['http://127.0.0.1:65536/cb?a=1', '400 redirect_uri_mismatch'],
    ['http://127.0.0.1:/cb?a=1', '400 redirect_uri_mismatch'],
    ['http://127.0.0.2:3000/cb', '400 redirect_uri_mismatch'],
    ['http://user@127.0.0.1:3000/cb?a=1', '400 redirect_uri_mismatch'],
    ['http://localhost:3000@evil.example/cb', '400 redirect_uri_mismatch'],
    ['http://localhost:3000/cb/', '400 redirect_uri_mismatch'],
    ['https://localhost:9443/cb', '400 redirect_uri_mismatch'],
  ])('are free for a client with any of them: %s is %s', async (redirectUri, outcome) => {
    const client = await provider.client({ public: true, loopbackPorts: 'any', redirectUris });
    const { bound, verifier } = pkce();
    const sent = provider.authorizeUrl({ ...client, redirectUri }, bound);
    const { location, outcome: shown } = await provider.follow(provider.browser(), sent);
    const code = location === null ? null : new URL(location).searchParams.get('code');
    if (code === null) return expect(shown).toBe(outcome);
    const right = { redirect_uri: redirectUri, code_verifier: verifier };
    // The token request repeats the redirect URI of the authorization request, port included (RFC 6749,
    // section 4.1.3).
    const another = { ...right, redirect_uri: 'http://127.0.0.1:1/cb?a=1' };
    expect(await provider.redeem(client, code, another)).toBe('400 invalid_grant');
    const unknown = { ...right, redirect_uri: 'http://127.0.0.1:1/other' };
    expect(await provider.redeem(client, code, unknown)).toBe('400 redirect_uri_mismatch');
    expect(await provider.redeem(client, code, right)).toBe(outcome);
  });

  it('are compared without the setting', async () => {
    const client = await provider.client({ public: true, redirectUris });
    const sent = { redirect_uri: 'http://127.0.0.1:49152/cb?a=1' };
    expect(await provider.attempt(client, sent)).toBe('400 redirect_uri_mismatch');
  });

  it('are free for the page that calls the token endpoint, too', async () => {
    const client = await provider.client({ public: true, loopbackPorts: 'any', redirectUris });
    const allowed = async (origin: string, body?: URLSearchParams) => {
      const { headers } = await (body === undefined
        ? provider.request('/v1/oauth/token', { method: 'OPTIONS', headers: { origin } })
        : provider.call('/v1/oauth/token', body, { origin }));
      return headers.get('access-control-allow-origin');
    };
    const form = new URLSearchParams({ grant_type: 'authorization_code', client_id: client.id, code: 'x' });
    form.set('redirect_uri', 'http://localhost:5173/cb');
    form.set('code_verifier', 'x'.repeat(43));
    for (const origin of ['http://localhost:5173', 'http://[::1]:9']) {
      expect(await allowed(origin)).toBe(origin);
      expect(await allowed(origin, form)).toBe(origin);
    }
    for (const origin of ['https://localhost:5173', 'http://localhost.evil.example:5173'])
      expect(await allowed(origin)).toBeNull();
  });

  it('are free for public clients only', async () => {
    await expect(provider.client({ loopbackPorts: 'any', redirectUris })).rejects.toThrow(
      /^loopbackPorts: .*public clients only/,
    );
  });
});
