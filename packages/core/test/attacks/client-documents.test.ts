import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { DocumentHost } from '../support/document-host.ts';
import { pkce, type TestClient, type TestProvider } from '../support/provider.ts';
import { serve, startProvider } from '../support/running.ts';

const scopes = ['openid', 'profile'];
const privately = { scopes, allowPrivateDocuments: true };
const redirectUri = 'http://127.0.0.1:40000/callback';
const clientOf = (id: string): TestClient => ({ id, secret: null, redirectUri });

/** Returns the result of an authorization request that is sent from the given IP address. */
async function resultOf(provider: TestProvider, id: string, address = '203.0.113.1'): Promise<string> {
  const url = provider.authorizeUrl(clientOf(id), pkce().bound);
  const answer = await provider.browser().get(url, { 'x-forwarded-for': address });
  return answer.outcome;
}

it('documents at private addresses are never requested, even if a public name resolves to them', async () => {
  const asked: string[] = [];
  const inside = await serve(({ url }, response) => {
    asked.push(url ?? '');
    response.end('{}');
  });
  const { port } = new URL(inside);
  const names: string[] = [];
  const resolve = async (name: string) => {
    names.push(name);
    return name === 'mixed.example' ? ['1.1.1.1', '127.0.0.1'] : ['127.0.0.1'];
  };
  const provider = await startProvider({ clientMetadataDocuments: { scopes }, webhooks: { resolve } });
  const hosts = [
    ...['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '10.0.0.1'],
    ...['169.254.169.254', 'localhost', 'app.localhost', 'rebinding.example', 'mixed.example'],
  ];
  for (const host of hosts)
    expect(await resultOf(provider, `https://${host}:${port}/client.json`), host).toBe('401 invalid_client');
  expect(names).toEqual(['rebinding.example', 'mixed.example']);
  expect(asked).toEqual([]);
});

it.each([
  ...['https://2130706433/a', 'https://0x7f.1/a', 'https://017700000001/a', 'https://127.1/a'],
  ...['https://user@app.example/a', 'https://app.example/a#b', 'https://app.example/a/../b'],
  ...['https://app.example/%2e%2e/a', 'https://app.example', 'http://app.example/a', 'https://аpp.example/a'],
  ...[
    'HTTPS://app.example/a',
    'https://app.example:443/a',
    'https://app.example\\@10.0.0.1/a',
    'file:///etc/passwd',
  ],
  `https://app.example/${'a'.repeat(5_000)}`,
])('no request is sent for the client id %s, by any endpoint', async (id) => {
  const names: string[] = [];
  const resolve = async (name: string) => {
    names.push(name);
    return ['1.1.1.1'];
  };
  const provider = await startProvider({ clientMetadataDocuments: { scopes }, webhooks: { resolve } });
  expect(await resultOf(provider, id)).toBe('401 invalid_client');
  const client = clientOf(id);
  expect(await provider.redeem(client, 'code', { code_verifier: pkce().verifier })).toBe(
    '401 invalid_client',
  );
  expect(names).toEqual([]);
});

it('the token endpoint reads no document', async () => {
  const documents = await DocumentHost.start();
  const provider = await startProvider({ clientMetadataDocuments: privately });
  const id = documents.document('/app');
  const request = { code_verifier: pkce().verifier };
  expect(await provider.redeem(clientOf(id), 'code', request)).toBe('401 invalid_client');
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x', client_id: id };
  expect((await provider.call('/v1/oauth/token', refresh)).status).toBe(400);
  expect(documents.requests).toEqual([]);
});

it('nothing that a document names is fetched', async () => {
  const documents = await DocumentHost.start();
  const provider = await startProvider({ clientMetadataDocuments: privately });
  const named = (path: string) => documents.serve(path, { body: '' });
  const id = documents.document('/app', {
    ...{
      client_uri: named('/home'),
      logo_uri: named('/logo'),
      tos_uri: named('/terms'),
      policy_uri: named('/privacy'),
    },
    ...{
      jwks_uri: named('/jwks'),
      sector_identifier_uri: named('/sector'),
      backchannel_logout_uri: named('/bye'),
    },
  });
  const { text } = await openConsent(provider, clientOf(id), pkce().bound);
  await provider.tokens(clientOf(id));
  expect(documents.requests).toEqual(['/app']);
  for (const path of ['/home', '/logo', '/terms', '/privacy'])
    expect(text).not.toContain(`${documents.origin}${path}`);
});

it('a name cannot pass for another, nor for markup', async () => {
  const documents = await DocumentHost.start();
  const provider = await startProvider({ clientMetadataDocuments: privately });
  const name = '</bdi><script>alert(1)</script>\u202e Bank\u200b';
  const { text, answer } = await openConsent(
    provider,
    clientOf(documents.document('/app', { client_name: name })),
    pkce().bound,
  );
  const { host } = new URL(documents.origin);
  expect(text).toContain(
    'It calls itself <bdi>&lt;/bdi&gt;&lt;script&gt;alert(1)&lt;/script&gt;\ufffd Bank\ufffd</bdi>.',
  );
  expect(text).toContain(`<title>Allow ${host}?`);
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
});

it('an address is refused after thirty new documents in an hour, found or not; known ones cost nothing', async () => {
  const documents = await DocumentHost.start();
  const provider = await startProvider({ clientMetadataDocuments: privately, trustedProxies: ['127.0.0.1'] });
  const known = documents.document('/known');
  expect(await resultOf(provider, known)).toBe('303 interaction');
  for (let number = 1; number < 30; number += 1) {
    const id =
      number % 2 === 0 ? documents.document(`/app-${number}`) : `${documents.origin}/missing-${number}`;
    const expected = number % 2 === 0 ? '303 interaction' : '401 invalid_client';
    expect(await resultOf(provider, id)).toBe(expected);
  }
  const late = documents.document('/late');
  expect(await resultOf(provider, late)).toBe('429 slow_down');
  expect(await resultOf(provider, known)).toBe('303 interaction');
  expect(await resultOf(provider, late, '203.0.113.2')).toBe('303 interaction');
  expect(await resultOf(provider, late)).toBe('303 interaction');
  provider.clock.advance(3_600_000);
  expect(await resultOf(provider, documents.document('/later'))).toBe('303 interaction');
});

it('a stale document that cannot be read any more counts as a new one', async () => {
  const documents = await DocumentHost.start();
  const provider = await startProvider({ clientMetadataDocuments: privately, trustedProxies: ['127.0.0.1'] });
  const id = documents.document('/app');
  expect(await resultOf(provider, id, '203.0.113.9')).toBe('303 interaction');
  documents.serve('/app', { status: 500, body: '' });
  provider.clock.advance(300_000);
  for (let number = 0; number < 30; number += 1)
    expect(await resultOf(provider, id)).toBe('401 invalid_client');
  expect(await resultOf(provider, id)).toBe('429 slow_down');
  expect(documents.requests).toHaveLength(31);
});

it('twenty thousand ids leave no more than ten thousand clients, and evict none that is in use', async () => {
  const documents = await DocumentHost.start();
  const storage = memoryStorage();
  const provider = await startProvider({ clientMetadataDocuments: privately, storage });
  const used = documents.document('/used');
  const tokens = await provider.tokens(clientOf(used));
  const sample = await storage.clients.find(used);
  if (sample === null) throw new Error('the client is not stored');
  const { partnerDisabled: _, ...client } = sample;
  const request = { now: provider.clock.now(), limit: 10_000 };
  for (let first = 0; first < 20_000; first += 1_000) {
    const ids = Array.from({ length: 1_000 }, (_, index) => `https://app.example/${first + index}`);
    await Promise.all(
      ids.map((clientId) => storage.clientDocuments.insert({ ...client, clientId }, request)),
    );
  }
  expect(await resultOf(provider, documents.document('/one-more'))).toBe('303 interaction');
  expect(await storage.clientDocuments.list({ after: null, limit: 200_000 })).toHaveLength(10_000);
  expect(await provider.isAlive(tokens.access_token)).toBe(true);
  expect(await storage.clients.find(used)).not.toBeNull();
}, 60_000);

it('servers that never respond occupy at most thirty-two reads, and further requests get a Retry-After', async () => {
  const waiting: (() => void)[] = [];
  const slow = await serve((_request, response) => void waiting.push(() => response.end()));
  const provider = await startProvider({ clientMetadataDocuments: privately, trustedProxies: ['127.0.0.1'] });
  const held = Array.from({ length: 32 }, (_, index) =>
    resultOf(provider, `${slow}/app-${index}`, `203.0.113.${index % 2}`),
  );
  await expect.poll(() => waiting.length).toBe(32);
  expect(await resultOf(provider, `${slow}/one-more`, '203.0.113.3')).toBe('503 temporarily_unavailable');
  for (const end of waiting) end();
  expect(new Set(await Promise.all(held))).toEqual(new Set(['401 invalid_client']));
});
