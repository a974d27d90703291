import { createHash } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { ClientError, type NewClient } from '../../src/admin.ts';
import { expectPlain } from '../support/plain-words.ts';
import { startProvider } from '../support/running.ts';

const storage = memoryStorage();
const provider = await startProvider({ storage });
const admin = provider.ostiary.admin.clients;

const settings = (changes: object = {}): NewClient => ({
  name: 'App',
  redirectUris: ['https://app.example/'],
  allowedScopes: ['openid'],
  ...changes,
});
const typeErrorAbout = (path: string) => (error: unknown) => {
  expectPlain(String(error), path);
  return error instanceof TypeError && error.message.includes(path);
};
const clientError = (code: string) => (error: unknown) => error instanceof ClientError && error.code === code;
const iso = (time = provider.clock.now()): string => new Date(time).toISOString();

describe('creating a client', () => {
  it('gives an id, a secret that is shown once, and safe defaults', async () => {
    const { client, clientSecret } = await admin.create(
      settings({ name: '  App  ', allowedScopes: ['openid', 'kyc', 'openid'] }),
    );
    expect(client).toEqual({
      clientId: expect.stringMatching(/^svc_client_[0-9a-f]{24}$/),
      name: 'App',
      public: false,
      redirectUris: ['https://app.example/'],
      allowedScopes: ['openid', 'kyc'],
      requirePkce: false,
      requireSecret: false,
      firstParty: false,
      idTokenAlg: 'RS256',
      partner: null,
      secrets: [{ createdAt: iso(), expiresAt: null }],
      createdAt: iso(),
      updatedAt: iso(),
      disabledAt: null,
    });
    expect(clientSecret).toMatch(/^svc_secret_[A-Za-z0-9_-]{43}$/);
    expect(await admin.get(client.clientId)).toEqual(client);
    const stored = await storage.clients.find(client.clientId);
    expect(JSON.stringify([await admin.list(), stored])).not.toContain(clientSecret);
    const digest = createHash('sha256').update(String(clientSecret)).digest();
    expect(Buffer.from(stored?.secrets[0]?.digest ?? [])).toEqual(digest);
  });

  it('refuses an id that is taken, and leaves its owner as it is', async () => {
    const { client } = await admin.create(settings({ clientId: 'taken', name: 'First' }));
    const second = admin.create(settings({ clientId: 'taken', name: 'Second' }));
    await expect(second).rejects.toSatisfy(clientError('client_exists'));
    expect(await admin.get('taken')).toEqual(client);
  });
});

it('listing clients goes through all of them by id, page by page', async () => {
  const { ostiary } = await startProvider();
  const { clients } = ostiary.admin;
  for (const clientId of ['d', 'c_1', 'c-1', 'a', 'B']) await clients.create(settings({ clientId }));
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await clients.list({ ...(after !== '' && { after }), limit: 2 });
    seen.push(page.clients.map(({ clientId }) => clientId).join(' '));
    after = page.next;
  }
  expect(seen).toEqual(['B a', 'c-1 c_1', 'd']);
  expect(await clients.list({ limit: 5 })).toMatchObject({ next: null });
  for (const limit of [0, 501, 1.5, Number.NaN])
    await expect(clients.list({ limit })).rejects.toThrow(TypeError);
});

describe('changing a client', () => {
  it('sets what is given, and nothing else', async () => {
    const { client } = await admin.create(settings({ requirePkce: true }));
    provider.clock.advance(1_000);
    const changes = { name: 'Renamed', allowedScopes: ['kyc', 'openid', 'kyc'] };
    const updated = await admin.update(client.clientId, changes);
    // Duplicate scopes are removed, as on creation.
    expect(updated).toEqual({ ...client, ...changes, allowedScopes: ['kyc', 'openid'], updatedAt: iso() });
    expect(await admin.get(client.clientId)).toEqual(updated);
  });

  it.each([
    [{ clientId: 'other' }, 'clientId'],
    [{ public: true }, 'public'],
    [{ disabledAt: null }, 'disabledAt'],
    [{ name: '' }, 'name: '],
    [{ redirectUris: ['javascript:alert(1)'] }, 'redirectUris.0: '],
    [{ redirectUris: ['com.example.app:/cb'] }, 'redirectUris.0: '],
    [{ allowedScopes: ['nonsense'] }, 'allowedScopes.0: '],
  ])('refuses %j and changes nothing', async (changes, path) => {
    const { client } = await admin.create(settings());
    const updating = admin.update(client.clientId, changes as object);
    await expect(updating).rejects.toSatisfy(typeErrorAbout(path));
    expect(await admin.get(client.clientId)).toEqual(client);
  });

  it('loses nothing when several change one client at once', async () => {
    const { client } = await admin.create(settings());
    await Promise.all([
      admin.update(client.clientId, { name: 'Together' }),
      admin.update(client.clientId, { requirePkce: true }),
      admin.update(client.clientId, { firstParty: true }),
      admin.rotateSecret(client.clientId, { overlapSeconds: 60 }),
      admin.rotateSecret(client.clientId, { overlapSeconds: 60 }),
    ]);
    const after = await admin.get(client.clientId);
    expect(after).toMatchObject({ name: 'Together', requirePkce: true, firstParty: true });
    expect(after?.secrets).toHaveLength(3);
  });

  it('says so when there is no such client', async () => {
    const { update, rotateSecret, disable, enable } = admin;
    const calls = [update('nobody', {}), ...[rotateSecret, disable, enable].map((call) => call('nobody'))];
    for (const call of calls) await expect(call).rejects.toSatisfy(clientError('client_not_found'));
    expect(await admin.get('nobody')).toBeNull();
  });
});

it('disabling a client keeps the time of the first call, and enabling clears it', async () => {
  const { client } = await admin.create(settings());
  const disabledAt = iso();
  expect((await admin.disable(client.clientId)).disabledAt).toBe(disabledAt);
  provider.clock.advance(1_000);
  expect((await admin.disable(client.clientId)).disabledAt).toBe(disabledAt);
  expect((await admin.enable(client.clientId)).disabledAt).toBeNull();
  expect((await admin.enable(client.clientId)).disabledAt).toBeNull();
});
