import { memoryStorage } from '@ostiary/testing/memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../../src/admin.ts';
import type { ClientRecord } from '../../../src/storage.ts';
import { pkce } from '../../support/provider.ts';
import { startProvider } from '../../support/running.ts';

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
