import { memoryStorage } from '@ostiary/testing/memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import type { ClientRecord } from '../../src/storage.ts';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { clients } = provider.ostiary.admin;

const webUris = fc.constantFrom(
  'https://app.example',
  'https://app.example/cb?tenant=a%20b&x=1',
  'HTTPS://App.example:443/cb',
  'https://localhost/cb',
  'https://127.0.0.1:8443/cb',
  'https://[::1]/cb',
  'http://localhost:3000/cb',
  'http://127.0.0.1/cb',
  'http://127.0.0.2/cb',
  'http://127.12.34.56:65535',
  'http://[::1]:4000/cb?code=registered',
);
const privateUseUris = fc.constantFrom(
  'com.example.app:/cb',
  'com.example.app:cb',
  'com.example.app://paypal.example/cb',
  'a.b:/',
);
const ids = fc.oneof(
  fc.constantFrom('-', '_', 'prototype', 'undefined', 'null', '0'),
  fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/).filter((id) => !(id in Object.prototype)),
);

/** Generates settings of clients that may sign users in. */
const settings: fc.Arbitrary<NewClient> = fc
  .record({ isPublic: fc.boolean(), clientId: ids })
  .chain(({ isPublic, clientId }) =>
    fc.record({
      clientId: fc.constant(clientId),
      public: fc.constant(isPublic),
      redirectUris: fc.uniqueArray(isPublic ? fc.oneof(webUris, privateUseUris) : webUris, {
        minLength: 1,
        maxLength: 6,
      }),
      name: fc.constantFrom('Shop', '<b>&amp;', 'Ĉu 例?', 'redirect_uris'),
      allowedScopes: fc.constantFrom(['openid' as const], ['kyc' as const, 'openid' as const]),
      idTokenAlg: fc.constantFrom('RS256' as const, 'ES256' as const),
      requirePkce: fc.boolean(),
      firstParty: fc.boolean(),
      requireSecret: isPublic ? fc.constant(false) : fc.boolean(),
      resourceServer: isPublic ? fc.constant(false) : fc.boolean(),
      loopbackPorts: isPublic
        ? fc.constantFrom('exact' as const, 'any' as const)
        : fc.constant('exact' as const),
      termsUrl: fc.constantFrom(null, 'https://app.example/terms'),
      privacyUrl: fc.constantFrom(null, 'https://app.example/privacy?a=b'),
      postLogoutRedirectUris: fc.uniqueArray(webUris, { maxLength: 2 }),
    }),
  );

/** Returns the outcome of a whole sign-in with each redirect URI of a client. */
async function signIns(created: Awaited<ReturnType<typeof clients.create>>): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const redirectUri of created.client.redirectUris) {
    const client = { id: created.client.clientId, secret: created.clientSecret, redirectUri };
    const { bound, verifier } = pkce();
    const browser = provider.browser();
    const { location, outcome } = await provider.follow(browser, provider.authorizeUrl(client, bound));
    const code = location === null ? null : new URL(location).searchParams.get('code');
    outcomes[redirectUri] =
      code === null ? outcome : await provider.redeem(client, code, { code_verifier: verifier });
  }
  return outcomes;
}

const allWork = (redirectUris: readonly string[]) =>
  Object.fromEntries(redirectUris.map((uri) => [uri, '200 ok']));

describe('a client that provisioning accepts', () => {
  it('can sign users in with each of its redirect URIs, with any other settings', async () => {
    const taken = new Set<string>();
    await fc.assert(
      fc.asyncProperty(settings, async ({ clientId = '', ...given }) => {
        const isTaken = taken.has(clientId);
        taken.add(clientId);
        const created = await clients.create({
          ...given,
          ...(!isTaken && { clientId }),
        });
        expect(await signIns(created)).toEqual(allWork(given.redirectUris));
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { seed: 38, numRuns: 60 },
    );
    expect(Object.keys(Object)).toEqual([]);
    expect(provider.errors).toEqual([]);
  });

  it('keeps working with its old redirect URI when another one is added', async () => {
    const redirectUris = ['https://app.example/cb'];
    const created = await clients.create({ name: 'Shop', redirectUris, allowedScopes: ['openid'] });
    for (const added of ['http://127.0.0.2/cb', 'https://localhost/cb', 'http://[::1]:5000/cb']) {
      const client = await clients.update(created.client.clientId, {
        redirectUris: [...redirectUris, added],
      });
      expect(await signIns({ ...created, client })).toEqual(allWork(client.redirectUris));
    }
  });

  it('is remembered for its https address, and asked for its loopback address every time', async () => {
    const web = await provider.client({
      redirectUris: ['https://app.example/cb', 'http://127.0.0.1:4000/cb'],
    });
    const loopback = { ...web, redirectUri: 'http://127.0.0.1:4000/cb' };
    const browser = provider.browser();
    expect(await provider.attempt(web, {}, browser)).toBe('interaction');
    await provider.code(web, {}, browser);
    expect(await provider.attempt(web, {}, browser)).toBe('code');
    expect(await provider.attempt(loopback, {}, browser)).toBe('interaction');
    expect(await provider.attempt(loopback, { prompt: 'none' }, browser)).toBe('consent_required');
    expect(await provider.attempt(web, {}, browser)).toBe('code');
  });
});

describe('a client that the engine refuses all the same', () => {
  it('is a defect of the server, which the log names', async () => {
    const storage = memoryStorage();
    const broken = await startProvider({ storage });
    const client = await broken.client();
    const stored = await storage.clients.find(client.id);
    // Change the stored record, because the administration refuses such a client.
    const unknownAlg = { ...stored, idTokenAlg: 'none', version: 2 };
    await storage.clients.replace(unknownAlg as unknown as ClientRecord);
    expect(await broken.attempt(client)).toBe('500 server_error');
    expect(broken.errors).toEqual([
      expect.objectContaining({
        fields: expect.objectContaining({
          err: expect.objectContaining({ message: 'invalid_client_metadata' }),
        }),
      }),
    ]);
  });
});

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
