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

  it('takes every setting, and makes a public one without a secret', async () => {
    const switches = { requirePkce: true, requireSecret: true, firstParty: true };
    const given = { clientId: 'My_client-1', idTokenAlg: 'ES256', ...switches };
    expect((await admin.create(settings(given))).client).toMatchObject(given);
    const scopes = { allowedScopes: ['openid', 'kyc'], defaultScope: ' kyc  openid kyc' };
    const created = await admin.create(settings({ ...scopes, refreshWithoutOfflineAccess: true }));
    expect(created.client).toMatchObject({ defaultScope: 'kyc openid', refreshWithoutOfflineAccess: true });
    const app = { public: true, redirectUris: ['com.example.app:/cb'] };
    const { client, clientSecret } = await admin.create(settings(app));
    expect([client, clientSecret]).toMatchObject([{ ...app, secrets: [] }, null]);
  });

  const refused: readonly (readonly [path: string, ...wrong: object[]])[] = [
    ['name: ', { name: '' }, { name: ' ' }, { name: 'x'.repeat(101) }, { name: undefined }],
    ['redirectUris: ', { redirectUris: [] }, { redirectUris: 'https://app.example/' }],
    [
      'redirectUris.0: ',
      { redirectUris: ['http://app.example/'] },
      { redirectUris: ['com.example.app:/cb'] },
    ],
    ['allowedScopes: ', { allowedScopes: [] }],
    ['allowedScopes.1: ', { allowedScopes: ['openid', 'email'] }],
    [
      'defaultScope: ',
      ...['', ' ', 'kyc', 'openid kyc', 'OpenID', 'openid,kyc', ['openid']].map((defaultScope) => ({
        defaultScope,
      })),
    ],
    ['requirePkce: ', { requirePkce: 'yes' }],
    ['refreshWithoutOfflineAccess: ', { refreshWithoutOfflineAccess: 'yes' }],
    ['requireSecret: ', { requireSecret: 1 }, { public: true, requireSecret: true }],
    ['idTokenAlg: ', { idTokenAlg: 'HS256' }],
    ['clientId: ', ...['a b', '', 'x'.repeat(256), 'a:b'].map((clientId) => ({ clientId }))],
    ['clientSecret', { clientSecret: 'mine' }],
    ['scope', { scope: 'openid' }],
  ];
  it('refuses what cannot be right, and names it', async () => {
    const before = await admin.list({ limit: 500 });
    for (const [path, ...wrong] of refused)
      for (const changes of wrong)
        await expect(admin.create(settings(changes)), path).rejects.toSatisfy(typeErrorAbout(path));
    expect(await admin.list({ limit: 500 })).toEqual(before);
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

  it('refuses to remove a scope that defaultScope contains, until that is changed, too', async () => {
    const scopes = { allowedScopes: ['openid', 'kyc'] as const, defaultScope: 'openid kyc' };
    const { client } = await admin.create(settings(scopes));
    const narrow = { allowedScopes: ['openid'] as const };
    await expect(admin.update(client.clientId, narrow)).rejects.toThrow(/^defaultScope: kyc is not among/);
    const changed = await admin.update(client.clientId, { ...narrow, defaultScope: null });
    expect([changed.allowedScopes, changed.defaultScope]).toEqual([['openid'], null]);
  });

  it('refuses requireSecret for a public client', async () => {
    const { client } = await admin.create(settings({ public: true }));
    await expect(admin.update(client.clientId, { requireSecret: true })).rejects.toThrow(/requireSecret/);
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

describe('rotating a secret', () => {
  it('never lengthens the life of an older one, and drops those that ended', async () => {
    const { client } = await admin.create(settings());
    const rotate = async (...given: { overlapSeconds: number }[]) =>
      (await admin.rotateSecret(client.clientId, ...given)).client.secrets;
    await rotate({ overlapSeconds: 10 });
    const [, hundred, ten] = await rotate({ overlapSeconds: 100 });
    expect(hundred?.expiresAt).toBe(iso(provider.clock.now() + 100_000));
    expect(ten?.expiresAt).toBe(iso(provider.clock.now() + 10_000));
    provider.clock.advance(10_000);
    expect(await rotate({ overlapSeconds: 5 })).toHaveLength(3);
    expect(await rotate()).toHaveLength(1);
  });

  it('is not for public clients, and takes an overlap of 0 seconds to a year', async () => {
    const { client } = await admin.create(settings({ public: true }));
    await expect(admin.rotateSecret(client.clientId)).rejects.toThrow(TypeError);
    const { client: other } = await admin.create(settings());
    for (const overlapSeconds of [-1, 0.5, 31_536_001, Number.NaN]) {
      await expect(admin.rotateSecret(other.clientId, { overlapSeconds })).rejects.toThrow(TypeError);
    }
    expect((await admin.get(other.clientId))?.secrets).toHaveLength(1);
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
